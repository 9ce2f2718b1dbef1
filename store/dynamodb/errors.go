package dynamodb

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/penstock-go/penstock/store"
)

// Errors of this package; test with errors.Is. Both come with store.ErrUnavailable.
var (
	// ErrSkew reports a clock that is too far from the server's, or cannot be compared with it.
	ErrSkew = errors.New("dynamodb: the clock is too far from the server's")
	// ErrTable reports a table that is not there, not what [CreateTable] makes, or not ready.
	ErrTable = errors.New("dynamodb: the table is not usable")
)

// throttled are the codes of a server that takes no more requests: for the partition of a hot key,
// the table, or the account. None of these requests was executed.
var throttled = map[string]bool{
	"ProvisionedThroughputExceededException": true,
	"ThrottlingException":                    true,
	"Throttling":                             true,
	"RequestLimitExceeded":                   true,
	"TooManyRequestsException":               true,
}

// notExecuted marks an error of a request that was surely not executed.
func notExecuted(err error) error { return fmt.Errorf("%w: dynamodb: %w", store.ErrUnavailable, err) }

// unknown marks an error of a request that may have been executed.
func unknown(err error) error { return fmt.Errorf("dynamodb: %w", err) }

// classify says by its error what became of a request: see store.Storage on errors. An error of a
// condition stays as it is.
//
//	never handed to a connection                  not executed
//	throttled, by its code or status 429          not executed, for the sake of the key
//	another answer of 300 to 499                  refused: not executed
//	an answer of 500 and above, or a broken one   nobody knows: DynamoDB may have written
//	no answer                                     nobody knows
func (a *attempt) classify(err error) error {
	if _, ok := conditionFailed(err); ok {
		return err
	}
	code := ""
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		code = answer.ErrorCode()
	}
	switch {
	case throttled[code] || a.status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: dynamodb: %w", store.ErrThrottled, err)
	case a.status >= 300 && a.status < 500:
		return notExecuted(err)
	case a.status != 0:
		return unknown(err)
	case a.unsent() || dialing(err):
		return notExecuted(err)
	}
	return unknown(err)
}

// dialing reports an error of making a connection, where the transport does not tell.
func dialing(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "dial"
}

// conditionFailed returns the error of a condition that was not met.
func conditionFailed(err error) (*types.ConditionalCheckFailedException, bool) {
	return errors.AsType[*types.ConditionalCheckFailedException](err)
}

// readError is the error, as classified, of a request that writes nothing: nothing was charged, whatever became of it.
func readError(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}
