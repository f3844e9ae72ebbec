package shoal

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/internal/idtext"
)

// Identifiers are opaque strings of 1 to [MaxID] characters from
// [A-Za-z0-9_.-]. They are unique in their session (sessions and keys: in the
// server) and never used again. An entity's id is its @handle.
type (
	SessionID string
	EntityID  string
	SpaceID   string
	MessageID string
	PartID    string
	RunID     string
	KeyID     string
	PendingID string
	// RememberedID names a remembered decision.
	RememberedID string
	PlanID       string
	FileID       string
	InviteID     string
)

// DefaultSession always exists and cannot be deleted.
const DefaultSession SessionID = "default"

// System is the sender of messages that the server itself posts. Nobody can
// register, mention or act as it.
const System EntityID = "system"

// Operator is the human entity that the first start creates in
// [DefaultSession]; the command line acts as it unless --as names another.
const Operator EntityID = "operator"

// Prefixes of generated identifiers.
const (
	PrefixSession  = "ses_"
	PrefixSpace    = "spc_"
	PrefixMessage  = "msg_"
	PrefixPart     = "prt_"
	PrefixKey      = "key_"
	PrefixRun      = "run_"
	PrefixPending  = "pnd_"
	PrefixDecision = "dec_"
	PrefixPlan     = "pln_"
	PrefixFile     = "fil_"
	PrefixGoal     = "gol_"
	PrefixMemory   = "mem_"
	PrefixInvite   = "inv_"
	PrefixNode     = "nod_"
)

// NewID returns prefix followed by 22 characters: ten for the present
// millisecond, twelve random ones. The identifiers that one process makes sort in
// the order of their creation, whatever its clock does.
func NewID[T ~string](prefix string) T { return T(prefix + idtext.New(time.Now())) }

// CheckID checks an id that a caller chose for a new object. field is the JSON name of the
// input, which the error names. The error is of kind [InvalidArgument].
func CheckID(field, id string) error {
	switch {
	case id == "":
		return Invalid(field, "is missing")
	case len(id) > MaxID:
		return Invalid(field, fmt.Sprintf("has %d characters; an id has at most %d", len(id), MaxID))
	case id == "." || id == ".." || id == string(System):
		return Invalid(field, fmt.Sprintf("must not be %q, which is reserved", id))
	}
	for i := range len(id) {
		if c := id[i]; !idChar(c) {
			return Invalid(field, "may contain only letters, digits and the characters _ . -")
		}
	}
	return nil
}

func idChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// Time is a time in the API: RFC 3339 in UTC with milliseconds. Messages are ordered by
// seq, not by time.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns t in UTC, truncated to the microsecond, which is the precision of both databases.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// Now returns the current time as a [Time].
func Now() Time { return At(time.Now()) }

// Roughly returns a duration for people: in seconds, minutes, hours or days.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(max(0, d).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

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
