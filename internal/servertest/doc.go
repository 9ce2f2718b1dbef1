// Package servertest starts real Redis servers for the tests of other modules, on free ports of 127.0.0.1
// and in temporary folders, stops them when the test ends, and lets them fail in between.
//
// Where redis-server is missing the test is skipped, or fails if the environment variable CI is set.
package servertest
