package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// Processes share the limit: what the first has used, the second has not.
func TestProcessesShare(t *testing.T) {
	server := dynamodbtest.Dynalite(t)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.URL)
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "none")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
	var first, second bytes.Buffer
	require.NoError(t, run(t.Context(), &first, "limits"))
	require.NoError(t, run(t.Context(), &second, "limits"))
	const refused = "come back later\n"
	require.Equal(t, "go on; 1 left\ngo on; 0 left\n"+refused, first.String())
	require.Equal(t, refused+refused+refused, second.String())
}
