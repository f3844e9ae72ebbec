package chat

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
)

// Apply applies one event of [client.Session.Follow] over all spaces. If the event cannot be
// decoded, the error is of kind Internal and the state does not change.
func (s *State) Apply(e shoal.Event) error {
	switch e.Type {
	case shoal.EventSnapshot:
		data, err := decode[shoal.SnapshotData](e)
		if err == nil {
			s.snapshot(data)
		}
		return err
	case shoal.EventSnapshotEnd:
		s.snapshotEnd()
		return nil
	case shoal.EventMessageCreated, shoal.EventMessageUpdated, shoal.EventMessageCompleted:
		data, err := decode[shoal.MessageData](e)
		if err == nil {
			s.Put(data.Message)
		}
		return err
	case shoal.EventMemberJoined, shoal.EventMemberLeft:
		data, err := decode[shoal.MemberData](e)
		if err == nil {
			s.member(e.Type, data)
		}
		return err
	case shoal.EventSpaceUpdated, shoal.EventSpaceClosed:
		data, err := decode[shoal.SpaceData](e)
		if err == nil {
			s.changed(data)
		}
		return err
	case shoal.EventEntityUpdated:
		data, err := decode[shoal.EntityData](e)
		if err == nil {
			s.people[data.Entity.ID] = data.Entity
		}
		return err
	case shoal.EventPendingOpened, shoal.EventPendingSettled:
		data, err := decode[shoal.PendingData](e)
		if err == nil {
			s.tellPending(data)
		}
		return err
	case shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled, shoal.EventRunFailed, shoal.EventRunCanceled,
		shoal.EventRunCompleted:
		data, err := decode[shoal.RunData](e)
		if err == nil {
			s.run(data)
		}
		return err
	}
	return s.part(e)
}

// snapshot replaces the state of a space. Older messages that connect to the snapshot without
// a gap are kept.
func (s *State) snapshot(d shoal.SnapshotData) {
	id := d.Space.ID
	sp := s.spaces[id]
	if sp == nil {
		sp = &Space{Thoughts: map[shoal.RunID]string{}}
		s.spaces[id] = sp
	}
	sp.Space, sp.counted = d.Space, d.Space.LastSeq
	if d.Members != nil {
		sp.Members = d.Members
	}
	clear(sp.Thoughts)
	first := d.Space.LastSeq + 1
	if len(d.Messages) > 0 {
		first = d.Messages[0].Seq
	}
	sp.Messages = slices.DeleteFunc(sp.Messages, func(m *Message) bool { return m.Seq >= first })
	for _, m := range sp.Messages {
		m.stale = m.stale || m.Status == shoal.MessageStreaming
	}
	for _, m := range d.Messages {
		now := &Message{Message: m}
		s.revise(now)
		sp.Messages = append(sp.Messages, now)
	}
	s.snapshots[id] = true
}

// snapshotEnd removes the spaces without a snapshot: the entity left them while the connection
// was lost.
func (s *State) snapshotEnd() {
	maps.DeleteFunc(s.spaces, func(id shoal.SpaceID, _ *Space) bool { return !s.snapshots[id] })
	s.Ready = true
	s.pending.anew()
}

// Put adds a message of the server, or replaces an older version of it. The message counts as
// unread when it is complete.
func (s *State) Put(m shoal.Message) {
	sp := s.spaces[m.SpaceID]
	if sp == nil {
		return
	}
	at, found := sp.find(m.Seq)
	whole := m.Status != shoal.MessageStreaming
	switch {
	case found:
		have := sp.Messages[at]
		if have.Status != shoal.MessageStreaming && !whole {
			return // an outdated event
		}
		if whole && have.Status == shoal.MessageStreaming {
			s.unread(sp, m)
		}
		have.Message, have.stale = grown(have.Message, m), false
		s.revise(have)
	default:
		now := &Message{Message: m}
		s.revise(now)
		sp.Messages = slices.Insert(sp.Messages, at, now)
		if whole && m.Seq > sp.counted {
			s.unread(sp, m)
		}
	}
	sp.LastSeq = max(sp.LastSeq, m.Seq)
}

// Fill adds messages that were missing: older ones, or those of a gap. They do not count as
// unread.
func (s *State) Fill(all []shoal.Message) {
	for _, m := range all {
		sp := s.spaces[m.SpaceID]
		if sp == nil {
			continue
		}
		at, found := sp.find(m.Seq)
		now := &Message{Message: m}
		switch {
		case !found:
			sp.Messages = slices.Insert(sp.Messages, at, now)
		case sp.Messages[at].stale:
			sp.Messages[at] = now
		default:
			continue
		}
		s.revise(now)
	}
}

func (sp *Space) find(seq int64) (at int, found bool) {
	return slices.BinarySearchFunc(sp.Messages, seq, func(have *Message, seq int64) int { return cmp.Compare(have.Seq, seq) })
}

// Missing returns the first seq from which messages must be read again: messages between two
// known ones are missing, or one may have changed unnoticed. It returns 0 if nothing is
// missing. Pass the messages to [State.Fill].
func (sp *Space) Missing() (from int64) {
	for i, m := range sp.Messages {
		if m.stale {
			return m.Seq
		}
		if i > 0 && m.Seq > sp.Messages[i-1].Seq+1 {
			return sp.Messages[i-1].Seq + 1
		}
	}
	return 0
}

// grown returns the new version of a message. The server's version may be older than the deltas
// of its streaming parts; longer texts that continue it are kept.
func grown(have, now shoal.Message) shoal.Message {
	parts := slices.Clone(now.Parts)
	for i, p := range parts {
		at := slices.IndexFunc(have.Parts, func(h shoal.Part) bool { return h.ID == p.ID })
		if at < 0 || p.Type != shoal.TextPart || p.Status != shoal.PartStreaming || have.Parts[at].Status != shoal.PartStreaming {
			continue
		}
		if h := have.Parts[at]; len(h.Text) > len(p.Text) && h.Text[:len(p.Text)] == p.Text {
			parts[i].Text = h.Text
		}
	}
	now.Parts = parts
	return now
}

func (s *State) unread(sp *Space, m shoal.Message) {
	if m.EntityID == s.Me {
		return
	}
	sp.UnreadCount++
	if slices.Contains(m.Mentions, s.Me) {
		sp.MentionCount++
	}
}

func (s *State) member(what shoal.EventType, d shoal.MemberData) {
	if d.SpaceID == nil || s.spaces[*d.SpaceID] == nil {
		return
	}
	sp := s.spaces[*d.SpaceID]
	complete := sp.Complete()
	sp.Members = slices.DeleteFunc(slices.Clone(sp.Members), func(m shoal.Member) bool { return m.EntityID == d.Member.EntityID })
	if what == shoal.EventMemberJoined && (complete || d.Member.EntityID == s.Me) {
		sp.Members = append(sp.Members, d.Member)
	}
	if sp.MemberCount = d.MemberCount; complete {
		sp.MemberCount = int64(len(sp.Members))
	}
	if what == shoal.EventMemberJoined {
		sp.notice(d.At, false, "%s joined", d.Member.EntityID)
		return
	}
	sp.notice(d.At, false, "%s left", d.Member.EntityID)
}

// changed applies a change of a space. Events are the same for all readers, so the reader's
// counts are kept, and membership changes have their own events. An unknown space was created
// just now: an entity that sees all spaces receives no snapshot of it.
func (s *State) changed(d shoal.SpaceData) {
	sp := s.spaces[d.Space.ID]
	if sp == nil {
		s.spaces[d.Space.ID] = &Space{Space: d.Space, Thoughts: map[shoal.RunID]string{}, counted: d.Space.LastSeq}
		s.snapshots[d.Space.ID] = true
		return
	}
	before := sp.Space
	sp.Space = d.Space
	sp.UnreadCount, sp.MentionCount, sp.LastSeq = before.UnreadCount, before.MentionCount, max(before.LastSeq, d.Space.LastSeq)
	sp.Members, sp.MemberCount = before.Members, before.MemberCount
	switch {
	case d.Type == shoal.EventSpaceClosed:
		sp.notice(d.At, false, "the space was closed")
	case before.Name != sp.Name:
		sp.notice(d.At, false, "the space was renamed to %s", sp.Name)
	}
}

// run applies a change of a run: its suspension marks all its messages, and a failure is
// noted in its space.
func (s *State) run(d shoal.RunData) {
	if parked := d.Run.Status.Suspended(); parked != s.parked[d.Run.ID] {
		delete(s.parked, d.Run.ID)
		if parked {
			s.parked[d.Run.ID] = true
		}
		s.reviseRun(d.Run.ID)
	}
	sp := s.spaceOf(d.EventHead)
	if sp == nil || !d.Run.Status.Ended() {
		return
	}
	delete(sp.Thoughts, d.Run.ID)
	switch {
	case d.Run.Status == shoal.RunCanceled:
		sp.notice(d.At, true, "%s was stopped (%s)", d.Run.AgentID, d.Run.ID)
	case d.Run.Status == shoal.RunFailed && d.Run.Error != nil:
		sp.notice(d.At, true, "%s failed with %s: %s (%s)", d.Run.AgentID, d.Run.Error.Code, d.Run.Error.Message, d.Run.ID)
	case d.Run.Status == shoal.RunFailed:
		sp.notice(d.At, true, "%s failed (%s)", d.Run.AgentID, d.Run.ID)
	}
}

// reviseRun marks the streaming messages of a run as changed.
func (s *State) reviseRun(id shoal.RunID) {
	for _, sp := range s.spaces {
		for _, m := range sp.Messages {
			if m.Status == shoal.MessageStreaming && m.RunID != nil && *m.RunID == id {
				s.revise(m)
			}
		}
	}
}
