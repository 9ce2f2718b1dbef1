package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/penstock-go/penstock/store"
)

const (
	partitionKey = "k"
	collected    = "x" // the TTL attribute
	tableWait    = 2 * time.Minute
	firstPoll    = 10 * time.Millisecond // doubled each time
	lastPoll     = 2 * time.Second
)

// CreateTable makes a table that [Open] can use, billed by request, waits until it is ready, for up to two
// minutes, and lets DynamoDB collect garbage by its TTL attribute. A table that is there already is left as it is,
// with the TTL switched on if it was off. A server that knows no TTL, as emulators, keeps garbage.
// Errors: [ErrTable] if the table that is there has another schema, and those of the server.
//
// It needs dynamodb:CreateTable, DescribeTable, DescribeTimeToLive and UpdateTimeToLive; Open and what follows
// need less.
func CreateTable(ctx context.Context, client *awsdynamodb.Client, table string) error {
	_, err := client.CreateTable(ctx, &awsdynamodb.CreateTableInput{
		TableName:   &table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(partitionKey), AttributeType: types.ScalarAttributeTypeB},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(partitionKey), KeyType: types.KeyTypeHash}},
	})
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return fmt.Errorf("dynamodb: creating table %q: %w", table, err)
	}
	ctx, cancel := context.WithTimeout(ctx, tableWait)
	defer cancel()
	if err := waitReady(ctx, client, table); err != nil {
		return fmt.Errorf("dynamodb: waiting for table %q: %w", table, err)
	}
	return collect(ctx, client, table)
}

// waitReady waits until a table is usable.
func waitReady(ctx context.Context, client *awsdynamodb.Client, table string) error {
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		found, err := client.DescribeTable(ctx, &awsdynamodb.DescribeTableInput{TableName: &table})
		switch _, missing := errors.AsType[*types.ResourceNotFoundException](err); {
		case err != nil && !missing:
			return err
		case err == nil && found.Table == nil, err == nil && found.Table.TableStatus != types.TableStatusCreating:
			return checkSchema(found.Table)
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

// collect switches the TTL on.
func collect(ctx context.Context, client *awsdynamodb.Client, table string) error {
	found, err := client.DescribeTimeToLive(ctx, &awsdynamodb.DescribeTimeToLiveInput{TableName: &table})
	if unknownOperation(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dynamodb: asking for the TTL of table %q: %w", table, err)
	}
	if ttl := found.TimeToLiveDescription; ttl != nil {
		switch ttl.TimeToLiveStatus {
		case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
			if name := aws.ToString(ttl.AttributeName); name != collected {
				return fmt.Errorf("%w: %w: table %q collects by attribute %q: it has to be %q",
					store.ErrUnavailable, ErrTable, table, name, collected)
			}
			return nil
		}
	}
	_, err = client.UpdateTimeToLive(ctx, &awsdynamodb.UpdateTimeToLiveInput{
		TableName:               &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(collected), Enabled: aws.Bool(true)},
	})
	if err != nil && !unknownOperation(err) {
		return fmt.Errorf("dynamodb: switching on the TTL of table %q: %w", table, err)
	}
	return nil
}

// unknownOperation reports a server that does not know what it was asked for.
func unknownOperation(err error) bool {
	answer, ok := errors.AsType[smithy.APIError](err)
	return ok && answer.ErrorCode() == "UnknownOperationException"
}

// checkSchema returns an error if a table is not what CreateTable makes.
func checkSchema(table *types.TableDescription) error {
	if table == nil {
		return fmt.Errorf("%w: %w: the server does not describe it", store.ErrUnavailable, ErrTable)
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %w: table %q "+format+": make one by CreateTable",
			append([]any{store.ErrUnavailable, ErrTable, aws.ToString(table.TableName)}, args...)...)
	}
	switch table.TableStatus {
	case types.TableStatusActive, types.TableStatusUpdating, "": // emulators leave it out
	default:
		return bad("is %s", table.TableStatus)
	}
	if len(table.KeySchema) != 1 || aws.ToString(table.KeySchema[0].AttributeName) != partitionKey {
		return bad("has a key of its own: it has to be one partition key %q", partitionKey)
	}
	for _, a := range table.AttributeDefinitions {
		if aws.ToString(a.AttributeName) == partitionKey && a.AttributeType != types.ScalarAttributeTypeB {
			return bad("has keys of type %s: it has to be B", a.AttributeType)
		}
	}
	return nil
}
