package agent

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// newID returns prefix followed by 22 characters: eleven for the present microsecond,
// eleven random ones. The ids that one process makes sort in the order of their creation,
// whatever its clock does.
func newID(prefix string) string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // documented to never fail
	out := append(make([]byte, 0, len(prefix)+22), prefix...)
	out = appendID(out, uint64(ids.next(time.Now())))
	return string(appendID(out, binary.BigEndian.Uint64(random[:])))
}

// appendID appends the lower 55 bits of v, five to a character. The alphabet is in ASCII
// order, so that ids sort as their times do.
func appendID(out []byte, v uint64) []byte {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	for shift := 50; shift >= 0; shift -= 5 {
		out = append(out, alphabet[v>>shift&31])
	}
	return out
}

var ids idClock

// idClock returns each microsecond once.
type idClock struct {
	mu   sync.Mutex
	last int64
}

func (c *idClock) next(now time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(now.UnixMicro(), c.last+1)
	return c.last
}

// nowUTC is the present moment, cut to the microsecond, which is what databases keep.
func nowUTC() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
