package dynamodb_test

import (
	"testing"

	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
	"github.com/penstock-go/penstock/store/storetest/lineartest"
)

// TestLinearizable: overlapping calls come out as if they were made one after the other.
func TestLinearizable(t *testing.T) {
	eachEmulator(t, func(t *testing.T, server *dynamodbtest.Server) { lineartest.Run(t, kit(server, 0)) })
}
