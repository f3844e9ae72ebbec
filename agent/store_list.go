package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Lister is implemented by a [Store] that can list its conversations, as those of this
// module do.
type Lister interface {
	// List returns the next conversations after one that it returned before, at most
	// limit, or the first ones for the zero Listed. They are ordered by LastActivity, the
	// latest first, and those of the same time by id. Fewer than limit are the last ones.
	// A conversation that is written between two calls moves to the front, so that it may
	// be among neither of their results. List fails with ErrInvalidArgument unless limit
	// is from 1 to 1,000.
	List(ctx context.Context, after Listed, limit int) ([]Listed, error)
}

// Deleter is implemented by a [Store] that can delete a conversation.
type Deleter interface {
	// Delete removes a conversation with its messages, also while a turn is open: the
	// next write of that turn fails with ErrConflict. It fails with ErrNotFound if the
	// conversation does not exist. Forks and sub-agents' conversations are conversations
	// of their own and stay. The id may be used again, and revisions then begin anew;
	// do not Replace a record that was loaded before.
	Delete(ctx context.Context, conversation string) error
}

// Expirer is implemented by a [Store] that can delete what has not been used for a time.
type Expirer interface {
	// Expire deletes conversations whose LastActivity is before the given time, the
	// oldest first and at most limit, and returns how many it has deleted; fewer than
	// limit means that no others are left. A conversation that becomes active meanwhile
	// stays. One with an open turn is deleted like the others, as by Delete: a turn that
	// waits for a person has no activity, so before has to leave people enough time.
	// After an error, the conversations that were counted are deleted, and others may be.
	// Expire fails with ErrInvalidArgument unless limit is from 1 to 1,000.
	Expire(ctx context.Context, before time.Time, limit int) (int, error)
}

// Listed is a conversation in a list.
type Listed struct {
	ID          string
	DisplayName string
	// Parent is the conversation that this one was forked from.
	Parent       string
	CreatedAt    time.Time
	LastActivity time.Time
	// Messages is the number of stored messages.
	Messages int
	// Open reports whether a turn has not ended; Waiting, whether it waits for an answer.
	Open, Waiting bool
}

// maxListed is the largest limit of List and Expire.
const maxListed = 1000

// PageOf sorts the conversations of a store as [Lister] promises, in place, and returns
// the page of them that List returns. It fails as List does.
func PageOf(all []Listed, after Listed, limit int) ([]Listed, error) {
	if limit < 1 || limit > maxListed {
		return nil, Invalid("limit", fmt.Sprintf("is %d; it must be from 1 to %d", limit, maxListed))
	}
	slices.SortFunc(all, inList)
	if after.ID != "" {
		at, found := slices.BinarySearchFunc(all, after, inList)
		if found {
			at++
		}
		all = all[at:]
	}
	return all[:min(limit, len(all))], nil
}

// ExpireIn deletes those of a store's conversations that [Expirer] promises to delete, in
// that order, and returns what Expire returns. It sorts all in place. remove removes a
// conversation if unused still reports true for it, and reports whether it did; ExpireIn
// stops at its first error.
func ExpireIn(all []Listed, before time.Time, limit int, remove func(id string, unused func(Listed) bool) (bool, error)) (int, error) {
	if _, err := PageOf(all, Listed{}, limit); err != nil {
		return 0, err
	}
	unused := func(l Listed) bool { return l.LastActivity.Before(before) }
	n := 0
	for _, l := range slices.Backward(all) {
		if n == limit || !unused(l) {
			break
		}
		removed, err := remove(l.ID, unused)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, nil
}

func inList(a, b Listed) int {
	return cmp.Or(b.LastActivity.Compare(a.LastActivity), strings.Compare(a.ID, b.ID))
}

// Listed returns what a list says about the record.
func (r *Record) Listed() Listed {
	return Listed{
		ID: r.ID, DisplayName: r.DisplayName, Parent: r.Parent, CreatedAt: r.CreatedAt, LastActivity: r.LastActivity,
		Messages: len(r.Messages), Open: r.Open != nil, Waiting: r.Open != nil && r.Open.Waiting,
	}
}

// List implements [Lister].
func (s *memory) List(ctx context.Context, after Listed, limit int) ([]Listed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return PageOf(s.all(), after, limit)
}

// all returns the conversations that exist, in any order.
func (s *memory) all() []Listed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Listed, 0, len(s.conversations))
	for _, k := range s.conversations {
		k.mu.Lock()
		if k.record.Revision > 0 {
			out = append(out, k.record.Listed())
		}
		k.mu.Unlock()
	}
	return out
}

// Delete implements [Deleter].
func (s *memory) Delete(ctx context.Context, conversation string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.remove(conversation, func(Listed) bool { return true }) {
		return notFound("memory.Delete", conversation)
	}
	return nil
}

// remove removes a conversation that exists, if the condition holds, and reports whether
// it did.
func (s *memory) remove(id string, condition func(Listed) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.conversations[id]
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.record.Revision == 0 || !condition(k.record.Listed()) {
		return false
	}
	k.removed = true
	delete(s.conversations, id)
	return true
}

// Expire implements [Expirer].
func (s *memory) Expire(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return ExpireIn(s.all(), before, limit, func(id string, unused func(Listed) bool) (bool, error) {
		return s.remove(id, unused), nil
	})
}
