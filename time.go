package shoal

import (
	"fmt"
	"time"
)

// Time is a moment as clients see it: RFC 3339 in UTC with milliseconds. Order
// is never decided by it; that is what seq is for.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns t in UTC, cut to the microsecond, which is what both databases
// keep.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// Now is the present moment as a [Time].
func Now() Time { return At(time.Now()) }

// String returns the form that clients see.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalText implements [encoding.TextMarshaler].
func (t Time) MarshalText() ([]byte, error) { return t.UTC().AppendFormat(nil, timeLayout), nil }

// MarshalJSON implements [encoding/json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, len(timeLayout)+2), `"`+timeLayout+`"`), nil
}

// UnmarshalText reads any RFC 3339 time.
func (t *Time) UnmarshalText(b []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	*t = At(parsed)
	return nil
}

// UnmarshalJSON reads any RFC 3339 time; null leaves t as it is.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("time: want a string such as %q", timeLayout)
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}
