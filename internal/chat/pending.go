package chat

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
)

// pendings are the pending actions that wait for the reader. Events tell about all
// that the spaces show; the server's list says which of them the reader may answer.
type pendings struct {
	open    map[shoal.PendingID]shoal.PendingAction
	since   map[shoal.PendingID]bool // told about since the list was asked for
	listed  bool                     // whether the list is as new as the events
	asking  bool                     // whether it is being asked for
	settled map[shoal.PendingID]shoal.PendingAction
}

func newPendings() pendings {
	return pendings{
		open: map[shoal.PendingID]shoal.PendingAction{}, settled: map[shoal.PendingID]shoal.PendingAction{},
		since: map[shoal.PendingID]bool{},
	}
}

// maxSettled bounds how many settled actions are remembered.
const maxSettled = 200

func (p *pendings) anew() { p.listed = false }

// PendingStale reports whether the server's list of what waits is to be asked for,
// and takes it as asked for: the answer goes to [State.PendingList], or
// [State.PendingFailed]. Until then it is not asked for again, so that no answer
// overtakes another.
func (s *State) PendingStale() bool {
	if s.pending.listed || s.pending.asking || !s.Ready {
		return false
	}
	s.pending.listed, s.pending.asking = true, true
	clear(s.pending.since)
	return true
}

// PendingFailed notes that the list could not be read; it is stale as before.
func (s *State) PendingFailed() { s.pending.listed, s.pending.asking = false, false }

// PendingList takes what waits for the reader, as the server listed it. What
// events told about since it was asked for is newer than the list, and stays.
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
		p.listed = false // it may be for others only
		return
	}
	delete(p.open, a.ID)
	if len(p.settled) >= maxSettled {
		clear(p.settled)
	}
	p.settled[a.ID] = a
}

// Settle takes a pending action as the server returned it to whoever answered.
func (s *State) Settle(a shoal.PendingAction) { s.tellPending(shoal.PendingData{PendingAction: a}) }

// Pending returns a pending action that waits for the reader.
func (s *State) Pending(id shoal.PendingID) (a shoal.PendingAction, open bool) {
	a, open = s.pending.open[id]
	return a, open
}

// Settled returns a pending action that was settled while somebody looked.
func (s *State) Settled(id shoal.PendingID) (shoal.PendingAction, bool) {
	a, ok := s.pending.settled[id]
	return a, ok
}

// Waiting returns what waits for the reader in a space, the oldest first. With an
// empty id it is all that waits in the spaces that the reader is a member of.
func (s *State) Waiting(id shoal.SpaceID) []shoal.PendingAction {
	return s.which(func(a shoal.PendingAction) bool {
		if a.SpaceID == nil || id != "" {
			return a.SpaceID != nil && *a.SpaceID == id
		}
		sp := s.spaces[*a.SpaceID]
		return sp != nil && s.Member(sp)
	})
}

// All returns everything that waits for the reader, also what no space shows, the
// oldest first.
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

// PendingOf returns what waits for the reader in a part.
func (s *State) PendingOf(m *Message, p shoal.Part) (a shoal.PendingAction, open bool) {
	for a := range maps.Values(s.pending.open) {
		if a.MessageID != nil && *a.MessageID == m.ID && a.PartID != nil && *a.PartID == p.ID {
			return a, true
		}
	}
	return a, false
}
