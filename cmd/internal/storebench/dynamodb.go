package storebench

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/penstock-go/penstock/cmd/internal/stores"
)

// The floors of DynamoDB.
const (
	wayUpdate = "raw UpdateItem"
	wayRead   = "raw GetItem"
)

// dynamoFloors are an update without a condition and a consistent read, by the
// client that the storage uses.
func dynamoFloors(target *stores.DynamoDB, scratch *stores.Scratch) []way {
	items := make([]map[string]types.AttributeValue, keyCount)
	for i := range items {
		full := scratch.Prefix + ":{" + keys[i] + "}:floor"
		scratch.Keep(full)
		items[i] = map[string]types.AttributeValue{"k": &types.AttributeValueMemberB{Value: []byte(full)}}
	}
	once := func(o *awsdynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	one := map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}
	return []way{
		{name: wayUpdate, call: func(ctx context.Context, key int) (bool, error) {
			_, err := target.Client.UpdateItem(ctx, &awsdynamodb.UpdateItemInput{
				TableName: &target.Table, Key: items[key], UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: one,
			}, once)
			return true, err
		}},
		{name: wayRead, call: func(ctx context.Context, key int) (bool, error) {
			_, err := target.Client.GetItem(ctx, &awsdynamodb.GetItemInput{
				TableName: &target.Table, Key: items[key], ConsistentRead: aws.Bool(true),
			}, once)
			return true, err
		}},
	}
}
