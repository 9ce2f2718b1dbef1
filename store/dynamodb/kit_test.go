package dynamodb_test

import (
	"testing"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
	"github.com/penstock-go/penstock/store/storetest"
)

// emulators are the servers that the tests run on.
var emulators = map[string]func(testing.TB) *dynamodbtest.Server{
	"minidyn":  dynamodbtest.Minidyn,
	"dynalite": dynamodbtest.Dynalite,
}

// kit is that of a server: each storage has a table of its own.
func kit(server *dynamodbtest.Server, steps int) storetest.Kit {
	return storetest.Kit{
		Steps: steps,
		New: func(t *testing.T, clock engine.Clock) store.Storage {
			t.Helper()
			if clock == nil {
				return server.Open(t)
			}
			return server.Open(t, dynamodb.WithClock(clock), dynamodb.WithMaxSkew(dynamodb.AnySkew))
		},
	}
}

func TestConformance(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) { storetest.Run(t, kit(start(t), 40)) })
	}
}
