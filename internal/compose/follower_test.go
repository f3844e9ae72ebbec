package compose_test

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/compose"
)

// follower builds messages from effects as a client does from events, and returns an error
// for effects that a client could not process. A space never has more than one open message
// that accepts parts.
type follower struct {
	messages map[shoal.MessageID]*followed
	sealed   map[shoal.MessageID]bool
	asked    map[shoal.SpaceID]bool
}

// followed is a message as a client sees it.
type followed struct {
	compose.Message
	text map[shoal.PartID]string // text, or the JSON of arguments
}

func newFollower() *follower {
	return &follower{messages: map[shoal.MessageID]*followed{}, sealed: map[shoal.MessageID]bool{}, asked: map[shoal.SpaceID]bool{}}
}

// load replaces a message as a snapshot does.
func (f *follower) load(m compose.Message) {
	m.Parts = slices.Clone(m.Parts)
	got := &followed{Message: m, text: map[shoal.PartID]string{}}
	for _, p := range m.Parts {
		got.text[p.ID] = p.Text + p.Input + string(p.Args)
	}
	f.messages[m.ID], f.sealed[m.ID], f.asked[m.Space] = got, m.Sealed, true
}

func (f *follower) part(at *compose.PartRef) (*followed, *compose.Part, error) {
	m := f.messages[at.Message]
	if m == nil || m.Status != shoal.MessageStreaming {
		return nil, nil, fmt.Errorf("message %s is not open", at.Message)
	}
	for i := range m.Parts {
		if m.Parts[i].ID == at.Part {
			return m, &m.Parts[i], nil
		}
	}
	return nil, nil, fmt.Errorf("message %s has no part %s", at.Message, at.Part)
}

func (f *follower) take(e compose.Effect) error {
	switch e := e.(type) {
	case compose.AskSpace:
		f.asked[e.Space] = true
	case compose.OpenMessage:
		for _, m := range f.messages {
			if m.Space == e.Message.Space && m.Status == shoal.MessageStreaming && !f.sealed[m.ID] {
				return fmt.Errorf("message %s of the space is still open", m.ID)
			}
		}
		if !f.asked[e.Message.Space] {
			return fmt.Errorf("space %s was never asked for", e.Message.Space)
		}
		f.load(e.Message)
	case compose.OpenPart:
		m := f.messages[e.Place.Message]
		if m == nil || m.Status != shoal.MessageStreaming || f.sealed[m.ID] {
			return fmt.Errorf("message %s accepts no parts", e.Place.Message)
		}
		m.Parts = append(m.Parts, e.Part)
	case compose.SealMessage:
		f.sealed[e.Message] = true
	case compose.ReopenMessage:
		f.sealed[e.Message] = false
	case compose.CloseMessage:
		return f.close(e.Message)
	case compose.SaveMessage:
		return f.compare(e.Message)
	}
	return f.takePart(e)
}

func (f *follower) takePart(e compose.Effect) error {
	switch e := e.(type) {
	case compose.AppendPart:
		m, p, err := f.part(e.Place)
		if err != nil {
			return err
		}
		if n := len(m.text[p.ID]); n != e.Offset || !utf8.ValidString(e.Delta) || e.Delta == "" {
			return fmt.Errorf("has %d bytes, delta %q at %d", n, e.Delta, e.Offset)
		}
		m.text[p.ID] += e.Delta
	case compose.ResetPart:
		m, p, err := f.part(e.Place)
		if err != nil {
			return err
		}
		m.text[p.ID] = m.text[p.ID][:e.Offset]
	case compose.RemovePart:
		m, p, err := f.part(e.Place)
		if err != nil {
			return err
		}
		id := p.ID
		m.Parts = slices.DeleteFunc(m.Parts, func(p compose.Part) bool { return p.ID == id })
	case compose.EndText:
		m, p, err := f.part(e.Place)
		if err == nil && (m.text[p.ID] != e.Text || p.Status != shoal.PartStreaming) {
			err = fmt.Errorf("has %q (%s)", m.text[p.ID], p.Status)
		}
		if err != nil {
			return err
		}
		p.Status = e.Status
	case compose.InputAvailable:
		m, p, err := f.part(e.Place)
		if err == nil && (m.text[p.ID] != string(e.Args) || p.Status != shoal.PartInputStreaming) {
			err = fmt.Errorf("has %q (%s)", m.text[p.ID], p.Status)
		}
		if err != nil {
			return err
		}
		p.Status = shoal.PartRunning
	case compose.ChangePart:
		return f.status(e.Place, e.Status)
	case compose.FinishTool:
		return f.status(e.Place, e.Status)
	}
	return nil
}

func (f *follower) status(at *compose.PartRef, status shoal.PartStatus) error {
	_, p, err := f.part(at)
	if err != nil {
		return err
	}
	switch p.Status {
	case shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction:
		p.Status = status
		return nil
	}
	return fmt.Errorf("is %s already", p.Status)
}

// compare checks that the stored message equals the followed one.
func (f *follower) compare(m compose.Message) error {
	got := f.messages[m.ID]
	if got == nil || len(got.Parts) != len(m.Parts) {
		return fmt.Errorf("the followed message differs")
	}
	for i, p := range m.Parts {
		text := got.text[p.ID]
		if q := got.Parts[i]; q.ID != p.ID || q.Status != p.Status || p.Text+p.Input+string(p.Args) != text {
			return fmt.Errorf("part %s is %s %q, followed %s %s %q", p.ID, p.Status, p.Text+p.Input+string(p.Args), q.ID, q.Status, text)
		}
	}
	return nil
}

func (f *follower) close(m compose.Message) error {
	if err := f.compare(m); err != nil {
		return err
	}
	for _, p := range m.Parts {
		switch p.Status {
		case shoal.PartStreaming, shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction:
			return fmt.Errorf("part %s is %s", p.ID, p.Status)
		}
	}
	if m.Status == shoal.MessageStreaming || f.messages[m.ID].Status != shoal.MessageStreaming {
		return fmt.Errorf("closed as %s, was %s", m.Status, f.messages[m.ID].Status)
	}
	f.messages[m.ID].Status = m.Status
	return nil
}
