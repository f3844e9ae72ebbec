package chat

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
)

// pendings are the pending actions that wait for the reader. Events report all actions that the
// spaces show; the server's list determines which of them the reader may answer.
type pendings struct {
	open    map[shoal.PendingID]shoal.PendingAction
	since   map[shoal.PendingID]bool // reported by events since the list was requested
	listed  bool                     // whether the list is as new as the events
	asking  bool                     // whether the list is being requested
	settled map[shoal.PendingID]shoal.PendingAction
}

func newPendings() pendings {
	return pendings{
		open: map[shoal.PendingID]shoal.PendingAction{}, settled: map[shoal.PendingID]shoal.PendingAction{},
		since: map[shoal.PendingID]bool{},
	}
}

// maxSettled limits the settled actions that are remembered.
const maxSettled = 200

func (p *pendings) anew() { p.listed = false }

// PendingStale reports whether the server's list of pending actions must be requested, and
// marks it as requested. Pass the response to [State.PendingList] or call
// [State.PendingFailed]. Until then PendingStale returns false, so that responses arrive in
// order.
func (s *State) PendingStale() bool {
	if s.pending.listed || s.pending.asking || !s.Ready {
		return false
	}
	s.pending.listed, s.pending.asking = true, true
	clear(s.pending.since)
	return true
}

// PendingFailed records that the list could not be read. It stays stale.
func (s *State) PendingFailed() { s.pending.listed, s.pending.asking = false, false }

// PendingList stores the server's list of pending actions for the reader. Events since the
// request are newer than the list and take precedence.
func (s *State) PendingList(all []shoal.PendingAction) {
	p := &s.pending
	p.asking = false
	listed := map[shoal.PendingID]bool{}
	for _, a := range all {
		if _, over := p.settled[a.ID]; !p.since[a.ID] && !over {
			p.open[a.ID] = a
			listed[a.ID] = true
		}
	}
	maps.DeleteFunc(p.open, func(id shoal.PendingID, _ shoal.PendingAction) bool { return !listed[id] && !p.since[id] })
}

func (s *State) tellPending(d shoal.PendingData) {
	p, a := &s.pending, d.PendingAction
	p.since[a.ID] = true
	if a.Status == shoal.PendingOpen {
		p.open[a.ID] = a
		p.listed = false // it may be for other entities only
		return
	}
	delete(p.open, a.ID)
	if len(p.settled) >= maxSettled {
		clear(p.settled)
	}
	p.settled[a.ID] = a
}

// Settle stores a pending action from the server's response to an answer.
func (s *State) Settle(a shoal.PendingAction) { s.tellPending(shoal.PendingData{PendingAction: a}) }

// Pending returns a pending action that the reader can answer.
func (s *State) Pending(id shoal.PendingID) (a shoal.PendingAction, open bool) {
	a, open = s.pending.open[id]
	return a, open
}

// Settled returns a pending action that was settled while the state was live.
func (s *State) Settled(id shoal.PendingID) (shoal.PendingAction, bool) {
	a, ok := s.pending.settled[id]
	return a, ok
}

// Waiting returns the pending actions for the reader in a space, oldest first. An empty id
// means all spaces that the reader is a member of.
func (s *State) Waiting(id shoal.SpaceID) []shoal.PendingAction {
	return s.which(func(a shoal.PendingAction) bool {
		if a.SpaceID == nil || id != "" {
			return a.SpaceID != nil && *a.SpaceID == id
		}
		sp := s.spaces[*a.SpaceID]
		return sp != nil && s.Member(sp)
	})
}

// All returns all pending actions for the reader, including those that no space shows, oldest
// first.
func (s *State) All() []shoal.PendingAction {
	return s.which(func(shoal.PendingAction) bool { return true })
}

func (s *State) which(keep func(shoal.PendingAction) bool) []shoal.PendingAction {
	var all []shoal.PendingAction
	for a := range maps.Values(s.pending.open) {
		if keep(a) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b shoal.PendingAction) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// PendingOf returns the pending action for the reader in a part.
func (s *State) PendingOf(m *Message, p shoal.Part) (a shoal.PendingAction, open bool) {
	for a := range maps.Values(s.pending.open) {
		if a.MessageID != nil && *a.MessageID == m.ID && a.PartID != nil && *a.PartID == p.ID {
			return a, true
		}
	}
	return a, false
}
