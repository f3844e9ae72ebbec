package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"
)

const (
	// codeLife is how long a code works.
	codeLife = 10 * time.Minute
	// maxCodes is how many codes work at once; one more ends the oldest.
	maxCodes = 100
)

// codes are the codes that somebody may sign in with, each once. They are kept as
// hashes: the time of a lookup reveals nothing about any code.
type codes struct {
	mu    sync.Mutex
	alive []code // the oldest first
}

type code struct {
	hash  [sha256.Size]byte
	until time.Time
}

// add makes a code and says until when it works.
func (c *codes) add() (text string, until time.Time) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // documented to never fail
	text = base64.RawURLEncoding.EncodeToString(b[:])
	until = time.Now().Add(codeLife)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alive) >= maxCodes {
		c.alive = slices.Delete(c.alive, 0, len(c.alive)-maxCodes+1)
	}
	c.alive = append(c.alive, code{sha256.Sum256([]byte(text)), until})
	return text, until
}

// take reports whether a code works, which it does no more.
func (c *codes) take(text string) bool {
	hash := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.alive, func(k code) bool { return k.hash == hash })
	if at < 0 {
		return false
	}
	until := c.alive[at].until
	c.alive = slices.Delete(c.alive, at, at+1)
	return time.Now().Before(until)
}
