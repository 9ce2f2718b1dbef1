package stores

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exchange sends a request over a connection whose answers may be lost, and returns what came of it.
func exchange(t *testing.T, loss *Loss, request, reply string) (got string, err error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() {
		_, _ = io.ReadFull(far, make([]byte, len(request)))
		_, _ = io.WriteString(far, reply)
	}()
	conn := &losingConn{Conn: near, loss: loss}
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	buffer := make([]byte, 64)
	n, err := conn.Read(buffer)
	return string(buffer[:n]), err
}

// Only answers that say that a script has run are lost, and one for each time that it is armed.
func TestLosesOnlyAnswersOfScripts(t *testing.T) {
	const script, hello = "*3\r\n$7\r\nEVALSHA\r\n", "*2\r\n$5\r\nHELLO\r\n"
	loss := &Loss{}
	keeps := func(request, reply string) {
		t.Helper()
		got, err := exchange(t, loss, request, reply)
		require.NoError(t, err)
		assert.Equal(t, reply, got)
	}
	keeps(script, ":1\r\n")
	loss.Arm()
	keeps(hello, "%7\r\n")
	keeps(script, "-NOSCRIPT No matching script\r\n")
	assert.Zero(t, loss.Lost())
	_, err := exchange(t, loss, script, ":1\r\n")
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, int64(1), loss.Lost())
	keeps(script, ":1\r\n")
	loss.Arm()
	loss.Disarm()
	keeps(script, ":1\r\n")
}

// The same over HTTP: only updates that were carried out.
func TestLosesOnlyAnswersOfUpdates(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	loss := &Loss{}
	call := func(operation string) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		response, err := losingTransport{http.DefaultTransport, loss}.RoundTrip(r)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	loss.Arm()
	require.NoError(t, call("GetItem"))
	status = http.StatusBadRequest
	require.NoError(t, call("UpdateItem"))
	status = http.StatusOK
	require.ErrorIs(t, call("UpdateItem"), io.ErrUnexpectedEOF)
	require.NoError(t, call("UpdateItem"))
	assert.Equal(t, int64(1), loss.Lost())
}
