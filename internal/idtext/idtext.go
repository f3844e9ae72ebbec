// Package idtext makes the texts of identifiers: ten characters for the millisecond and twelve random
// ones, which sort in the order in which one process makes them.
package idtext

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// alphabet is in ASCII order, so that identifiers sort as their times do.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// New returns a new text of 22 characters. It sorts after all that this process has made before, even
// if now is before the times of those. It is safe for concurrent use.
func New(now time.Time) string {
	at, random := all.next(now)
	var out [22]byte
	put(out[:10], at)
	put(out[10:], random)
	return string(out[:])
}

// all makes the numbers of all identifiers of this process.
var all source

// source remembers the last number that it returned. Identifiers of one millisecond differ
// by random steps, so that none can be guessed from its predecessor.
type source struct {
	mu         sync.Mutex
	at, random uint64
}

const (
	randomBits = 60 // of an identifier
	stepBits   = 40 // of the step to the next one in the same millisecond
	stepMask   = 1<<stepBits - 1
)

func (s *source) next(now time.Time) (at, random uint64) {
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
		dst[i] = alphabet[v&31]
		v >>= 5
	}
}
