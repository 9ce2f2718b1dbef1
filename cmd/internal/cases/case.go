// Package cases runs call-by-call cases against the engine's public API and
// judges every answer.
//
// A case is one JSON object on one line: a limit, and calls in order, each
// with its time and the answer that it must get.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
)

// Case is one limiter's life: calls in order, with the answers they must get.
type Case struct {
	ID             string   `json:"id"`
	Algorithm      string   `json:"algorithm"`
	AlsoAlgorithms []string `json:"also_algorithms,omitempty"`
	Limit          Limit    `json:"limit"`
	Calls          []Call   `json:"calls"`
	Note           string   `json:"note,omitempty"`
	Source         string   `json:"source,omitempty"`
}

// Limit is Limit tokens per WindowNanos. Burst is the size of a bucket;
// algorithms without one need none.
type Limit struct {
	Limit       *int64 `json:"limit"`
	WindowNanos *int64 `json:"window_ns"`
	Burst       *int64 `json:"burst,omitempty"`
}

// Call is one call and the answer it must get.
type Call struct {
	AtNanos   *int64  `json:"t_ns"` // since an origin of the case's own
	Key       *string `json:"key"`
	N         *int64  `json:"n"`
	WantAllow *bool   `json:"want_allow"`
	// WantRetryAfterNanos is the exact retry-after of a denied call, -1 for
	// never. Nil leaves it open within bounds; see Judge.
	WantRetryAfterNanos *int64 `json:"want_retry_after_ns,omitempty"`
}

// Parse reads a case from one line of JSON. Fields that it does not know are
// left alone; fields that are missing are an error that names them.
func Parse(line []byte) (Case, error) {
	var c Case
	dec := json.NewDecoder(bytes.NewReader(line))
	if err := dec.Decode(&c); err != nil {
		return Case{}, explain(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Case{}, errors.New("there is more after the case's closing brace; write one case a line")
	}
	if err := c.validate(); err != nil {
		return Case{}, err
	}
	return c, nil
}

// explain turns an error of the JSON package into one that says what to do.
func explain(err error) error {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends early; write the whole case on one line")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at byte %d (%w); write one JSON object a line", syntax.Offset, err)
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return fmt.Errorf("the line is a JSON %s; write one JSON object a line", wrongType.Value)
	case errors.As(err, &wrongType):
		return fmt.Errorf("field %q cannot be %s; it takes a value of type %s", wrongType.Field, wrongType.Value, wrongType.Type)
	}
	return err
}

// validate returns all that is missing from the case.
func (c *Case) validate() error {
	var errs []error
	missing := func(absent bool, what string) {
		if absent {
			errs = append(errs, fmt.Errorf("%s is missing", what))
		}
	}
	missing(c.ID == "", `"id"`)
	missing(c.Algorithm == "", `"algorithm"`)
	missing(c.Limit.Limit == nil, `"limit.limit" (tokens per window)`)
	missing(c.Limit.WindowNanos == nil, `"limit.window_ns"`)
	for _, algorithm := range c.Algorithms() {
		missing(limits.HasBurst(algorithm) && c.Limit.Burst == nil, fmt.Sprintf(`"limit.burst" (%s needs it)`, algorithm))
	}
	missing(len(c.Calls) == 0, `"calls"`)
	for i, call := range c.Calls {
		missing(call.AtNanos == nil, fmt.Sprintf(`"t_ns" of call %d`, i+1))
		missing(call.Key == nil, fmt.Sprintf(`"key" of call %d`, i+1))
		missing(call.N == nil, fmt.Sprintf(`"n" of call %d`, i+1))
		missing(call.WantAllow == nil, fmt.Sprintf(`"want_allow" of call %d`, i+1))
		if want := call.WantRetryAfterNanos; want != nil && *want < -1 {
			errs = append(errs, fmt.Errorf(`"want_retry_after_ns" of call %d is %d; use -1 for never`, i+1, *want))
		}
	}
	return joinLine(errs)
}

// Algorithms lists all algorithms that the case is for.
func (c *Case) Algorithms() []string {
	return append([]string{c.Algorithm}, c.AlsoAlgorithms...)
}

// Spec returns the case's limit for one of its algorithms.
func (c *Case) Spec(algorithm string) limits.Spec {
	spec := limits.Spec{Algorithm: algorithm, Tokens: *c.Limit.Limit, Per: time.Duration(*c.Limit.WindowNanos)}
	if c.Limit.Burst != nil {
		spec.Burst = *c.Limit.Burst
	}
	return spec
}

// joinLine joins errors on one line; nil if there is none.
func joinLine(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, ", "))
}
