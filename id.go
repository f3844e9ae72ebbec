package shoal

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
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
	PlanID    string
	FileID    string
)

// DefaultSession always exists and cannot be deleted.
const DefaultSession SessionID = "default"

// System is the sender of messages that the server itself posts. Nobody can
// register, mention or act as it.
const System EntityID = "system"

// Operator is the human entity that the first start creates in
// [DefaultSession]; the command line acts as it unless told otherwise.
const Operator EntityID = "operator"

// Prefixes of generated identifiers.
const (
	PrefixSession = "ses_"
	PrefixSpace   = "spc_"
	PrefixMessage = "msg_"
	PrefixPart    = "prt_"
	PrefixKey     = "key_"
	PrefixRun     = "run_"
	PrefixPending = "pnd_"
	PrefixPlan    = "pln_"
	PrefixFile    = "fil_"
	PrefixGoal    = "gol_"
	PrefixMemory  = "mem_"
)

// idAlphabet is in ASCII order, so that identifiers sort as their times do.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns prefix followed by 22 characters: ten for the present
// millisecond, twelve random ones. Identifiers of different milliseconds sort
// in the order of their creation.
func NewID[T ~string](prefix string) T {
	var random [8]byte
	_, _ = rand.Read(random[:]) // documented to never fail
	var out [22]byte
	put(out[:10], uint64(time.Now().UnixMilli()))
	put(out[10:], binary.BigEndian.Uint64(random[:]))
	return T(prefix + string(out[:]))
}

func put(dst []byte, v uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = idAlphabet[v&31]
		v >>= 5
	}
}

// CheckID reports whether id may name something that a caller creates. field is
// the JSON name of the input, for the sentence. The error is of kind
// [InvalidArgument].
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
