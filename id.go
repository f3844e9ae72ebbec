package shoal

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
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
	// RememberedID names a remembered decision.
	RememberedID string
	PlanID       string
	FileID       string
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
	PrefixDecided = "dec_"
	PrefixPlan    = "pln_"
	PrefixFile    = "fil_"
	PrefixGoal    = "gol_"
	PrefixMemory  = "mem_"
)

// idAlphabet is in ASCII order, so that identifiers sort as their times do.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns prefix followed by 22 characters: ten for the present
// millisecond, twelve random ones. The identifiers that one process makes sort in
// the order of their creation, whatever its clock does.
func NewID[T ~string](prefix string) T {
	at, random := ids.next(time.Now())
	var out [22]byte
	put(out[:10], at)
	put(out[10:], random)
	return T(prefix + string(out[:]))
}

// ids makes the numbers of identifiers.
var ids idSource

// idSource remembers what it gave out last. Identifiers of one millisecond differ
// by random steps, so none can be told from the one before it.
type idSource struct {
	mu         sync.Mutex
	at, random uint64
}

const (
	randomBits = 60 // of an identifier
	stepBits   = 40 // of the step to the next one in the same millisecond
	stepMask   = 1<<stepBits - 1
)

func (s *idSource) next(now time.Time) (at, random uint64) {
	var fresh [8]byte
	_, _ = rand.Read(fresh[:]) // documented to never fail
	r := binary.BigEndian.Uint64(fresh[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if at = uint64(now.UnixMilli()); at > s.at {
		// The first bit stays free for the steps that may follow.
		s.at, s.random = at, r>>(64-randomBits+1)
		return s.at, s.random
	}
	if s.random += 1 + r&stepMask; s.random >= 1<<randomBits {
		s.at, s.random = s.at+1, r&stepMask
	}
	return s.at, s.random
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
