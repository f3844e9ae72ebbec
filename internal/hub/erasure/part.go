package erasure

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// part is some of what an entity has written.
type part struct {
	messages []shoal.MessageID
	answers  []shoal.PendingID
	spaces   map[shoal.SpaceID]bool // of both
	index    *copies.Index
	size     int // of the texts
}

func (p *part) empty() bool { return len(p.messages) == 0 && len(p.answers) == 0 }

// full reports whether a part with n messages or answers has enough.
func (p *part) full(n int) bool { return n >= partLength || p.size >= partTexts }

// reader reads what an entity has written part by part.
type reader struct {
	of              storage.EntityRef
	message, answer int64 // numbers of the last ones
}

// next returns the next part; an empty one is the end.
func (r *reader) next(tx storage.Tx) (*part, error) {
	p := &part{spaces: map[shoal.SpaceID]bool{}, index: copies.NewIndex()}
	for !p.full(len(p.messages)) {
		found, last, err := tx.MessagesOf(r.of, r.message, batch)
		if err != nil || len(found) == 0 {
			if err != nil {
				return p, err
			}
			break
		}
		r.message = last
		for _, m := range found {
			if err := p.addMessage(tx, m); err != nil {
				return p, err
			}
		}
	}
	for !p.full(len(p.answers)) {
		found, last, err := tx.AnsweredBy(r.of, r.answer, batch)
		if err != nil || len(found) == 0 {
			return p, err
		}
		r.answer = last
		for _, a := range found {
			p.addAnswer(a, r.of.ID)
		}
	}
	return p, nil
}

func (p *part) addMessage(tx storage.Tx, m shoal.Message) error {
	versions, err := tx.MessageVersions(m.SessionID, m.ID, 0, shoal.MaxVersions)
	if err != nil {
		return err
	}
	at := shoal.Now()
	if m.DeletedAt == nil {
		p.messages = append(p.messages, m.ID)
		p.size += copies.Size(m.Parts)
		for _, v := range versions {
			p.size += copies.Size(v.Parts)
		}
	} else {
		at = *m.DeletedAt
	}
	p.spaces[m.SpaceID] = true
	p.index.Add(copies.OfMessage(m, versions, at))
	return nil
}

func (p *part) addAnswer(a storage.Pending, by shoal.EntityID) {
	p.answers = append(p.answers, a.ID)
	if a.SpaceID != nil {
		p.spaces[*a.SpaceID] = true
	}
	var given []shoal.PendingAnswer
	eachAnswer(&a, by, func(one *shoal.PendingAnswer) {
		given = append(given, *one)
		p.size += len(one.Result) + len(one.Args)
	})
	p.index.Add(copies.OfAnswer([]string{string(a.ID), a.ToolCallID}, given...))
}

// eachAnswer calls fn with the answers of an entity to an action, which fn may change.
func eachAnswer(p *storage.Pending, by shoal.EntityID, fn func(*shoal.PendingAnswer)) {
	if p.Answer != nil && p.AnsweredBy != nil && *p.AnsweredBy == by {
		fn(p.Answer)
	}
	for i := range p.Policy.Votes {
		if p.Policy.Votes[i].EntityID == by {
			fn(&p.Policy.Votes[i].Answer)
		}
	}
}

// eraseAnswersOf erases the texts in the answers of an entity.
func eraseAnswersOf(p *storage.Pending, by shoal.EntityID) {
	erased := copies.Erased
	eachAnswer(p, by, func(a *shoal.PendingAnswer) {
		for _, text := range []**string{&a.Error, &a.Reason, &a.Ask, &a.Answer} {
			if *text != nil {
				*text = &erased
			}
		}
		for _, value := range []*json.RawMessage{&a.Result, &a.Args} {
			if len(*value) > 0 {
				*value = json.RawMessage("{}")
			}
		}
	})
}
