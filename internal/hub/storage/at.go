package storage

import (
	"iter"
	"slices"

	"github.com/shoal-dev/shoal"
)

// At names the sessions that an Update changes. A database that locks by session locks
// these, so that Updates in different sessions do not wait for each other.
type At []shoal.SessionID

// Global is the At of an Update that changes keys, the list of sessions, or what it finds
// in any session. It excludes all other Updates, of every server, so it must be rare.
var Global At

// NoSession is the At of an Update that changes only what belongs to no session and is in no
// list of sessions, such as the list of servers, or when keys were last used.
var NoSession = At{}

// In returns the At of an Update that changes the given sessions and nothing else.
func In(sessions ...shoal.SessionID) At { return sessions }

// MaxSessions is how many sessions one Update should name at most.
const MaxSessions = 64

// Batches returns the At of Updates that together change the given sessions, each once and in
// at most MaxSessions of them.
func Batches(sessions []shoal.SessionID) iter.Seq[At] {
	sessions = slices.Compact(slices.Sorted(slices.Values(sessions)))
	return func(yield func(At) bool) {
		for some := range slices.Chunk(sessions, MaxSessions) {
			if !yield(some) {
				return
			}
		}
	}
}

// Includes reports whether an Update with this At may change the session.
func (a At) Includes(session shoal.SessionID) bool { return a == nil || slices.Contains(a, session) }
