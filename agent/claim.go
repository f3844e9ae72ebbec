package agent

import (
	"fmt"
	"reflect"
	"sync"
)

// claims are the conversations that run a turn in this process.
var claims sync.Map // of claimKey

type claimKey struct {
	store any // the store itself, or the handle where stores cannot be compared
	id    string
}

// claim reserves the conversation for one turn in this process, across all of its
// handles. It does not wait: it fails with ErrConflict if the conversation is reserved.
// release ends the reservation and may be called more than once. live is how messages
// reach the turn.
func (c *Conversation) claim(live *liveTurn) (release func(), err error) {
	key := c.claimKey()
	if _, taken := claims.LoadOrStore(key, live); taken {
		return nil, NewError("agent.Run", ErrConflict, fmt.Sprintf(
			"Conversation %s runs a turn already (ThreadRunActive); wait until it has finished, or take another conversation.", c.id))
	}
	return func() { claims.CompareAndDelete(key, live) }, nil
}

func (c *Conversation) claimKey() claimKey {
	if reflect.ValueOf(c.store).Comparable() {
		return claimKey{c.store, c.id}
	}
	return claimKey{c, c.id}
}
