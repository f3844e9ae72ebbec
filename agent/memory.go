package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// NewMemory returns a [Store] that keeps conversations in memory for as long as it is
// reachable. It does not copy messages: histories only grow, and Load returns a slice
// that ends where the history ended at that time. It also is a [Lister], a [Deleter] and
// an [Expirer]; List and Expire read every conversation.
func NewMemory() Store { return &memory{conversations: map[string]*memoryConversation{}} }

type memory struct {
	mu            sync.RWMutex
	conversations map[string]*memoryConversation
}

// memoryConversation is one conversation. Callers share what a record refers to: it is replaced or
// appended to, never changed in place.
type memoryConversation struct {
	mu     sync.Mutex
	record Record // Revision 0: not created yet
	// removed means that the store no longer has it; a writer that waited looks again.
	removed bool
}

func (s *memory) find(id string) *memoryConversation {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.conversations[id]
}

func (s *memory) findOrMake(id string) *memoryConversation {
	if k := s.find(id); k != nil {
		return k
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.conversations[id]
	if k == nil {
		k = &memoryConversation{record: Record{ID: id}}
		s.conversations[id] = k
	}
	return k
}

// locked returns the conversation, created if necessary, with its lock held.
func (s *memory) locked(id string) *memoryConversation {
	for {
		k := s.findOrMake(id)
		k.mu.Lock()
		if !k.removed {
			return k
		}
		k.mu.Unlock()
	}
}

// Load implements [Store].
func (s *memory) Load(ctx context.Context, conversation string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	k := s.find(conversation)
	if k == nil {
		return Record{}, notFound("memory.Load", conversation)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.record.Revision == 0 || k.removed {
		return Record{}, notFound("memory.Load", conversation)
	}
	out := k.record
	out.Messages = slices.Clip(out.Messages)
	if out.Open != nil {
		open := *out.Open
		open.Steps = slices.Clip(open.Steps)
		out.Open = &open
	}
	return out, nil
}

// Begin implements [Store].
func (s *memory) Begin(ctx context.Context, conversation string, turn Turn) error {
	return s.write(ctx, conversation, func(r *Record) error { return r.begin(turn) })
}

// Commit implements [Store].
func (s *memory) Commit(ctx context.Context, conversation string, ref TurnRef, step Step) error {
	return s.write(ctx, conversation, func(r *Record) error { return r.commit(ref, step) })
}

// End implements [Store].
func (s *memory) End(ctx context.Context, conversation string, ref TurnRef, end TurnEnd) error {
	return s.write(ctx, conversation, func(r *Record) error { return r.end(ref, end) })
}

// Replace implements [Store].
func (s *memory) Replace(ctx context.Context, record Record) error {
	return s.write(ctx, record.ID, func(r *Record) error { return r.replace(record) })
}

func (s *memory) write(ctx context.Context, id string, change func(*Record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if id == "" {
		return Invalid("conversation", "is missing")
	}
	k := s.locked(id)
	defer k.mu.Unlock()
	if err := change(&k.record); err != nil {
		return err
	}
	k.record.Revision++
	return nil
}

// The four writes of a [Store], on a record that the store owns. A write that fails
// does not change the record. None reads a clock: replaying them has the same result.

func (r *Record) begin(turn Turn) error {
	if turn.ID == "" || turn.Attempt < 1 {
		return Invalid("turn", "needs an id and an attempt of at least 1")
	}
	if r.Open == nil {
		if turn.Attempt > 1 {
			return NewError("store.Begin", ErrConflict, fmt.Sprintf(
				"The turn %s of conversation %s has ended; load the conversation and begin a new turn.", turn.ID, r.ID))
		}
		if r.Revision == 0 {
			r.CreatedAt = turn.StartedAt
		}
		r.Open = &OpenTurn{Turn: turn, Base: len(r.Messages)}
		r.Messages = append(r.Messages, turn.Input...)
		r.active(turn)
		return nil
	}
	open := *r.Open
	switch {
	case open.ID != turn.ID:
		return NewError("store.Begin", ErrConflict, fmt.Sprintf(
			"Conversation %s has the unfinished turn %s; resume it with a run without input, or discard it.", r.ID, open.ID))
	case turn.Attempt <= open.Attempt:
		return NewError("store.Begin", ErrConflict, fmt.Sprintf(
			"The turn %s is open in attempt %d; take it over with a higher attempt, or leave it to the one that has it.", open.ID, open.Attempt))
	}
	open.Attempt = turn.Attempt
	open.Waiting = false
	r.Open = &open
	r.active(turn)
	return nil
}

// active advances the last activity to the start of the turn's attempt.
func (r *Record) active(turn Turn) {
	if turn.StartedAt.After(r.LastActivity) {
		r.LastActivity = turn.StartedAt
	}
}

// opened returns a copy of the open turn if ref may write to it.
func (r *Record) opened(op string, ref TurnRef) (OpenTurn, error) {
	switch {
	case r.Revision == 0 || r.Open == nil || r.Open.ID != ref.ID:
		return OpenTurn{}, NewError(op, ErrConflict, fmt.Sprintf(
			"The turn %s of conversation %s is not open: it has ended or was discarded; load the conversation to see its state.", ref.ID, r.ID))
	case r.Open.Attempt != ref.Attempt:
		return OpenTurn{}, NewError(op, ErrConflict, fmt.Sprintf(
			"The turn %s is open in attempt %d, not %d: another writer has taken it over; stop writing.", ref.ID, r.Open.Attempt, ref.Attempt))
	}
	return *r.Open, nil
}

func (r *Record) commit(ref TurnRef, step Step) error {
	open, err := r.opened("store.Commit", ref)
	if err != nil {
		return err
	}
	last := len(open.Steps) - 1
	replaces := last >= 0 && !open.Steps[last].Done
	want := last + 1
	if replaces {
		want = last
	}
	if step.Index != want {
		return NewError("store.Commit", ErrConflict, fmt.Sprintf(
			"Step %d of turn %s is out of order: the store expects step %d; load the conversation and continue from there.", step.Index, ref.ID, want))
	}
	if replaces {
		open.Steps = slices.Clone(open.Steps)
		open.Steps[last] = step
	} else {
		open.Steps = append(open.Steps, step)
	}
	open.Waiting = false
	r.Open = &open
	if step.Done {
		r.Messages = append(r.Messages, step.Messages()...)
	}
	if step.Assistant.CreatedAt.After(r.LastActivity) {
		r.LastActivity = step.Assistant.CreatedAt
	}
	return nil
}

func (r *Record) end(ref TurnRef, end TurnEnd) error {
	open, err := r.opened("store.End", ref)
	if err != nil {
		return err
	}
	if end.Outcome == Waiting {
		open.Waiting = true
		r.Open = &open
	} else {
		if last := len(open.Steps) - 1; last >= 0 && !open.Steps[last].Done {
			open.Steps = open.Steps[:last] // it is dropped, with what it has read
		}
		r.Messages = append(r.Messages, open.unread()...)
		r.Open = nil
	}
	r.ContextState = merged[json.RawMessage](r.ContextState, end.ContextState)
	r.Rules = merged(r.Rules, end.Rules)
	if end.Summary != nil {
		r.Summary = end.Summary
	}
	if end.At.After(r.LastActivity) {
		r.LastActivity = end.At
	}
	return nil
}

func (r *Record) replace(with Record) error {
	if with.Revision != r.Revision {
		return NewError("store.Replace", ErrConflict, fmt.Sprintf(
			"Conversation %s is at revision %d, not %d: it has changed meanwhile; load it and repeat the change.", with.ID, r.Revision, with.Revision))
	}
	// Another record may use the rest of their capacity.
	with.Messages = slices.Clip(with.Messages)
	if with.Open != nil {
		open := *with.Open
		open.Steps = slices.Clip(open.Steps)
		with.Open = &open
	}
	*r = with
	return nil
}

// merged returns a copy of old with the entries of added; it does not change old.
func merged[V any](old, added map[string]V) map[string]V {
	if len(added) == 0 {
		return old
	}
	out := make(map[string]V, len(old)+len(added))
	maps.Copy(out, old)
	maps.Copy(out, added)
	return out
}

func notFound(op, id string) error {
	return NewError(op, ErrNotFound, fmt.Sprintf("Conversation %s not found in this store.", id))
}
