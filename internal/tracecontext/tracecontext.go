// Package tracecontext reads the header traceparent of W3C Trace Context, with which a program
// says to which trace its request belongs, and carries it to what the request starts.
//
//	handler = tracecontext.Handler(handler) // every API
//	parent := tracecontext.Of(ctx)          // where a run is created
//
// Guarantees:
//   - What is carried is valid and has [Size] bytes, whatever was sent. An invalid header is
//     ignored, as the specification says.
//   - It names a place in a trace and nothing else: no right, no limit and no id follows from it.
package tracecontext

import (
	"context"
	"net/http"
	"strings"
)

// Size is how many bytes a carried header has: that of version 00.
const Size = 55

// Where the fields of a header are: version-trace-parent-flags.
const (
	traceAt  = 3
	parentAt = traceAt + 33
	flagsAt  = parentAt + 17
)

// known are the flags that version 00 defines: sampled, and that the id of the trace is random.
const known = 0b11

// Parse returns a header in the form of version 00, and false for one that is invalid. Of a later
// version it reads what version 00 has, as the specification wants. Flags that version 00 does not
// define are cleared.
func Parse(header string) (parent string, ok bool) {
	if len(header) < Size || !isHex(header[:2]) || header[:2] == "ff" || header[2] != '-' || header[parentAt-1] != '-' || header[flagsAt-1] != '-' {
		return "", false
	}
	if len(header) > Size && (header[:2] == "00" || header[Size] != '-') {
		return "", false
	}
	trace, span, flags := header[traceAt:parentAt-1], header[parentAt:flagsAt-1], header[flagsAt:Size]
	if !isID(trace) || !isID(span) || !isHex(flags) {
		return "", false
	}
	return "00-" + trace + "-" + span + "-0" + string(rune('0'+digit(flags[1])&known)), true
}

// isID reports whether s is an id in hexadecimal, which is never zero.
func isID(s string) bool { return isHex(s) && strings.Trim(s, "0") != "" }

// isHex reports whether s has only the digits that the specification allows, which are small.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// digit returns the value of a hexadecimal digit.
func digit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

type parentKey struct{}

// With returns a context whose calls belong to the trace of a header. An invalid one leaves ctx as
// it is.
func With(ctx context.Context, header string) context.Context {
	if parent, ok := Parse(header); ok {
		return context.WithValue(ctx, parentKey{}, parent)
	}
	return ctx
}

// Of returns the header of the request that ctx belongs to, in the form of [Parse], or "" without a
// valid one.
func Of(ctx context.Context) string {
	parent, _ := ctx.Value(parentKey{}).(string)
	return parent
}

// Handler returns a handler whose requests have the header in their contexts. One that is sent
// twice counts as none: it does not say which of the two holds.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent := r.Header["Traceparent"]; len(sent) == 1 {
			if ctx := With(r.Context(), sent[0]); ctx != r.Context() {
				r = r.WithContext(ctx)
			}
		}
		next.ServeHTTP(w, r)
	})
}
