package dynamodb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/penstock-go/penstock/store"
)

// maxTries bounds the updates of an op. The first may have the wrong form, and the key may pass from busy
// to idle or into another window between two; only ops that take a part of what they want can lose more.
const maxTries = 8

// Accepts accepts every law of one word, but with [WithFloatNumbers] for those with numbers too large.
func (s *Store) Accepts(law *store.Law) error {
	n := law.Numbers()
	if !s.floats {
		return nil
	}
	latest := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	if n.Limit > maxFloat || n.Units > maxFloat || n.Rate > (maxFloat-n.Units)/latest {
		return fmt.Errorf("%w: dynamodb: %v needs numbers that are no floats: leave out WithFloatNumbers, or use a smaller limit "+
			"or a rate with smaller parts",
			store.ErrNotSupported, law.Limit())
	}
	return nil
}

// maxFloat is 2^53: up to it every integer is a float.
const maxFloat = int64(1) << 53

// Apply makes each op by a request of its own, several at once: see [WithParallel].
func (s *Store) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	if len(ops) == 1 {
		results[0] = s.apply(ctx, ops[0])
		return
	}
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(s.parallel, len(ops)) {
		workers.Go(func() {
			for i := range next {
				results[i] = s.apply(ctx, ops[i])
			}
		})
	}
	for i := range ops {
		next <- i
	}
	close(next)
	workers.Wait()
}

// apply makes one op.
func (s *Store) apply(ctx context.Context, op store.Op) store.Result {
	seen, certain, err := s.measure(ctx, op.Key)
	if err != nil {
		return store.Result{Err: err}
	}
	if !certain {
		seen, _ = s.hints.of(op.Key)
	}
	numbers := op.Law.Numbers()
	for try := 0; try < maxTries; {
		now := s.now()
		p := plan{numbers: &numbers, seen: &seen, now: now, least: op.Min, most: op.Max}
		p.make()
		if p.take == 0 && certain {
			s.hints.set(op.Key, seen)
			return store.Result{Before: stateOf(&numbers, &seen, now), Now: now}
		}
		if p.take == 0 { // it looks used up: a read costs less than a write that fails
			if seen, err = s.read(ctx, op.Key); err != nil {
				return store.Result{Err: err}
			}
			certain = true
			continue
		}
		before, err := s.update(ctx, op.Key, &p)
		if err == nil {
			s.hints.set(op.Key, p.after(&before))
			return store.Result{Before: stateOf(&numbers, &before, now), Now: now, Taken: p.take}
		}
		if seen, err = s.refused(ctx, op.Key, err); err != nil {
			return store.Result{Err: err}
		}
		s.hints.set(op.Key, seen)
		certain = true
		try++
	}
	return store.Result{Err: fmt.Errorf("%w: dynamodb: %d tries", store.ErrContended, maxTries)}
}

// update sends a plan and returns the item on which it was carried out.
func (s *Store) update(ctx context.Context, key string, p *plan) (before item, err error) {
	in := &awsdynamodb.UpdateItemInput{
		TableName: &s.table, Key: keyOf(key),
		UpdateExpression: &p.update, ConditionExpression: &p.condition, ExpressionAttributeValues: p.values,
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	var out *awsdynamodb.UpdateItemOutput
	err = s.send(ctx, func(o func(*awsdynamodb.Options)) (err error) {
		out, err = s.client.UpdateItem(ctx, in, o)
		return err
	})
	if err != nil {
		return item{}, err
	}
	return parse(out.Attributes), nil
}
