package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// maxThought limits the stored end of a reasoning text in bytes.
const maxThought = 4 << 10

// part applies an event of a part and ignores other events.
func (s *State) part(e shoal.Event) error {
	switch e.Type {
	case shoal.EventTextStart, shoal.EventTextEnd:
		data, err := decode[shoal.TextData](e)
		if err == nil {
			s.text(e.Type, data)
		}
		return err
	case shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningDelta:
		data, err := decode[shoal.DeltaData](e)
		if err == nil {
			s.delta(e.Type, data)
		}
		return err
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable:
		data, err := decode[shoal.ToolInputData](e)
		if err == nil {
			s.input(e.Type, data)
		}
		return err
	case shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		data, err := decode[shoal.ToolOutputData](e)
		if err == nil {
			s.output(data)
		}
		return err
	case shoal.EventPartReset, shoal.EventPartRemoved:
		data, err := decode[shoal.PartResetData](e)
		if err == nil {
			s.withdraw(e.Type, data)
		}
		return err
	case shoal.EventReasoningStart, shoal.EventReasoningEnd:
		data, err := decode[shoal.PartHead](e)
		if sp := s.spaceOf(data.EventHead); err == nil && sp != nil && data.RunID != nil {
			delete(sp.Thoughts, *data.RunID)
		}
		return err
	}
	return nil
}

func (s *State) spaceOf(h shoal.EventHead) *Space {
	if h.SpaceID == nil {
		return nil
	}
	return s.spaces[*h.SpaceID]
}

// find returns the message of a part and the index of the part in it, or -1 if it does not
// exist yet. The message is nil if it does not exist or is complete: then it no longer
// changes.
func (s *State) find(h shoal.PartHead) (*Message, int) {
	sp := s.spaceOf(h.EventHead)
	if sp == nil {
		return nil, -1
	}
	for i := len(sp.Messages) - 1; i >= 0; i-- {
		if m := sp.Messages[i]; m.ID == h.MessageID {
			return m, slices.IndexFunc(m.Parts, func(p shoal.Part) bool { return p.ID == h.PartID })
		}
	}
	return nil, -1
}

// open returns a part for modification, and creates it if necessary.
func (s *State) open(h shoal.PartHead, kind shoal.PartType) *shoal.Part {
	m, at := s.find(h)
	if m == nil {
		return nil
	}
	s.revise(m)
	m.Parts = slices.Clone(m.Parts) // they may be shared with an event
	if at < 0 {
		m.Parts = append(m.Parts, shoal.Part{ID: h.PartID, Type: kind, Private: h.Private, Target: h.TargetEntityID})
		at = len(m.Parts) - 1
	}
	return &m.Parts[at]
}

func (s *State) text(what shoal.EventType, d shoal.TextData) {
	p := s.open(d.PartHead, shoal.TextPart)
	if p == nil || p.Private {
		return
	}
	if what == shoal.EventTextStart {
		p.Status = shoal.PartStreaming
		return
	}
	p.Text, p.Status = d.Text, d.Status
	if p.Status == "" {
		p.Status = shoal.PartDone
	}
}

func (s *State) delta(what shoal.EventType, d shoal.DeltaData) {
	if what == shoal.EventReasoningDelta {
		if sp := s.spaceOf(d.EventHead); sp != nil && d.RunID != nil {
			all := sp.Thoughts[*d.RunID] + d.Delta
			sp.Thoughts[*d.RunID] = strings.ToValidUTF8(all[max(0, len(all)-maxThought):], "")
		}
		return
	}
	m, at := s.find(d.PartHead)
	if m == nil || at < 0 {
		return
	}
	p := &m.Parts[at]
	switch {
	case what == shoal.EventTextDelta && p.Status == shoal.PartStreaming:
		text := extended(p.Text, d)
		if text == p.Text {
			return
		}
		p = s.open(d.PartHead, shoal.TextPart)
		p.Text = text
	case what == shoal.EventToolInputDelta && p.Status == shoal.PartInputStreaming:
		if m.inputs == nil {
			m.inputs = map[shoal.PartID]string{}
		}
		m.inputs[p.ID] = extended(m.inputs[p.ID], d)
		s.revise(m)
	}
}

// extended returns text with a delta appended, without the bytes that it already has, and
// unchanged if bytes between the two are missing.
func extended(text string, d shoal.DeltaData) string {
	if d.Offset > len(text) || d.Offset < 0 || d.Offset+len(d.Delta) <= len(text) {
		return text
	}
	return text[:d.Offset] + d.Delta
}

func (s *State) input(what shoal.EventType, d shoal.ToolInputData) {
	p := s.open(d.PartHead, shoal.ToolPart)
	if p == nil || p.Private {
		return
	}
	p.ToolName, p.ToolCallID = d.ToolName, d.ToolCallID
	if what == shoal.EventToolInputStart {
		p.Status = shoal.PartInputStreaming
		return
	}
	p.Args = d.Args
	if p.Status == "" || p.Status == shoal.PartInputStreaming {
		p.Status = shoal.PartRunning
	}
}

func (s *State) output(d shoal.ToolOutputData) {
	p := s.open(d.PartHead, shoal.ToolPart)
	if p == nil || p.Private {
		return
	}
	p.ToolName, p.ToolCallID = d.ToolName, d.ToolCallID
	p.Status, p.Error = d.Status, ""
	if d.Error != nil {
		p.Error = *d.Error
	}
	if p.Result = d.Result; string(p.Result) == "null" {
		p.Result = nil
	}
	if d.AnsweredBy != nil {
		p.AnsweredBy = *d.AnsweredBy
	}
	p.Decision = d.Decision
}

// withdraw truncates or removes a part, because a model call is repeated.
func (s *State) withdraw(what shoal.EventType, d shoal.PartResetData) {
	m, at := s.find(d.PartHead)
	if m == nil || at < 0 {
		return
	}
	if what == shoal.EventPartRemoved {
		m.Parts = slices.Delete(slices.Clone(m.Parts), at, at+1)
		delete(m.inputs, d.PartID)
		s.revise(m)
		return
	}
	switch p := s.open(d.PartHead, ""); p.Type {
	case shoal.TextPart:
		p.Text, p.Status = p.Text[:min(d.Offset, len(p.Text))], shoal.PartStreaming
	case shoal.ToolPart:
		p.Args, p.Status = json.RawMessage(nil), shoal.PartInputStreaming
		if have := m.inputs[p.ID]; have != "" {
			m.inputs[p.ID] = have[:min(d.Offset, len(have))]
		}
	}
}
