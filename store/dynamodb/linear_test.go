package dynamodb_test

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
	"github.com/penstock-go/penstock/store/storetest/lineartest"
)

// TestLinearizable: overlapping calls come out as if they were made one after the other.
func TestLinearizable(t *testing.T) { lineartest.Run(t, kit(dynamodbtest.Minidyn(t), 0)) }

// TestStressLinearizable: the same on the slower emulator, whose failed conditions do not say what stood there.
func TestStressLinearizable(t *testing.T) {
	if os.Getenv("PENSTOCK_STRESS") == "" {
		t.Skip("takes a while: set PENSTOCK_STRESS")
	}
	lineartest.Run(t, kit(dynamodbtest.Dynalite(t), 0))
}
