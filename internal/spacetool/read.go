package spacetool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/search"
)

const (
	readDefault = 15
	readMost    = 50
	// readBytes bounds the texts of one answer together.
	readBytes = 160 << 10
)

type readSpace struct {
	SpaceID shoal.SpaceID `json:"spaceId" jsonschema:"The id of a space that you are in."`
	Limit   *int          `json:"limit" jsonschema:"How many messages at most: 15 by default, up to 50."`
	Search  *string       `json:"search" jsonschema:"Only messages that hold all of these words; from:ID, has:link, before:2027-01-31 and the like narrow it down."`
}

// said is one message in the result of readSpaceMessages. Parts are all parts but text; a
// part that is too long is a string with the beginning of its JSON.
type said struct {
	Sender   string         `json:"sender"`
	SenderID shoal.EntityID `json:"senderId"`
	Type     string         `json:"type"` // human, agent, system or deleted
	// OnBehalfOf are those for whom a run wrote this from another space.
	OnBehalfOf []shoal.EntityID  `json:"onBehalfOf,omitempty"`
	Text       string            `json:"text"`
	Parts      []json.RawMessage `json:"parts,omitempty"`
	Timestamp  shoal.Time        `json:"timestamp"`
	ReplyTo    *shoal.MessageID  `json:"replyTo,omitempty"`
	EditedAt   *shoal.Time       `json:"editedAt,omitempty"`
	Reactions  []shoal.Reaction  `json:"reactions,omitempty"`
}

func readTool(r *Run) agent.Tool {
	return reading(tool("readSpaceMessages", "Reads the newest messages of a space that you are in, the oldest first. Others do not see that you read.",
		func(ctx context.Context, in readSpace) (any, error) { return readMessages(ctx, r, in) }))
}

func readMessages(ctx context.Context, r *Run, in readSpace) (any, error) {
	if err := shoal.CheckID("spaceId", string(in.SpaceID)); err != nil {
		return nil, err
	}
	query, err := r.query(or(in.Search, ""), in.SpaceID)
	if err != nil {
		return nil, err
	}
	limit := or(in.Limit, readDefault)
	if limit < 1 {
		limit = readDefault
	}
	limit = min(limit, readMost)
	var out []said
	err = r.read(ctx, func(tx storage.Tx) error {
		out = []said{}
		if err := r.member(tx, in.SpaceID); err != nil {
			return err
		}
		messages, err := r.messages(tx, in.SpaceID, query, limit)
		if err != nil {
			return err
		}
		who, err := r.senders(tx, in.SpaceID, messages)
		if err != nil {
			return err
		}
		for _, m := range messages {
			told, err := who.tell(m, readBytes/len(messages))
			if err != nil {
				return err
			}
			out = append(out, told)
		}
		return nil
	})
	return out, err
}

// member refuses a space that the agent is not in, exactly as one that is not there.
func (r *Run) member(tx storage.Tx, space shoal.SpaceID) error {
	in, err := tx.IsMember(r.session(), space, r.agent())
	if err == nil && !in {
		err = shoal.E("", shoal.NotFound, fmt.Sprintf("Space %q not found among those you are in. Your prompt lists them with their ids.", space))
	}
	if err != nil {
		return err
	}
	may, err := r.mayRead(tx, space)
	if err == nil && !may {
		err = shoal.E("", shoal.Forbidden, fmt.Sprintf("You may not read %q in this run: not everybody that you act for is in that space. You can write there and ask; the answer comes to you if you wait for it.", space))
	}
	return err
}

// messages returns the newest messages of a space, or the newest that a query
// holds for, the oldest first, as the agent may see them.
func (r *Run) messages(tx storage.Tx, space shoal.SpaceID, query *search.Query, limit int) ([]shoal.Message, error) {
	var found []shoal.Message
	if query == nil {
		page, err := tx.Messages(r.session(), space, storage.Page{Limit: limit})
		if err != nil {
			return nil, err
		}
		found = page
	} else {
		result, err := tx.Search(r.session(), storage.SearchQuery{Query: *query, Reader: r.agent(), Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, f := range result.Found {
			found = append(found, f.Message)
		}
		slices.SortFunc(found, func(a, b shoal.Message) int { return int(a.Seq - b.Seq) })
	}
	return r.visible(found), nil
}

// visible takes out what is private to others.
func (r *Run) visible(messages []shoal.Message) []shoal.Message {
	out := make([]shoal.Message, 0, len(messages))
	for _, m := range messages {
		m = m.For(r.agent())
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p shoal.Part) bool { return p.Private })
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// query parses a search within a space; it returns nil for an empty one.
func (r *Run) query(text string, space shoal.SpaceID) (*search.Query, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	query, err := search.Parse("search", text)
	if err != nil {
		return nil, err
	}
	query = query.As(r.agent()).Within(search.In, string(space))
	return &query, nil
}

// senders are the authors of messages.
type senders map[shoal.EntityID]sender

type sender struct{ name, kind string }

// senders reads the authors of messages. A deleted entity keeps its name.
func (r *Run) senders(tx storage.Tx, space shoal.SpaceID, messages []shoal.Message) (senders, error) {
	out := senders{shoal.System: {naming.SystemName, "system"}}
	members, err := tx.ListedMembers(r.session(), r.agent(), []shoal.SpaceID{space})
	if err != nil {
		return nil, err
	}
	for _, m := range members[space] {
		out[m.EntityID] = sender{m.Name, string(m.Kind)}
	}
	for _, m := range messages {
		if _, known := out[m.EntityID]; known {
			continue
		}
		names, err := tx.EntityNames(r.session(), []shoal.EntityID{m.EntityID})
		if err != nil {
			return nil, err
		}
		s := sender{name: names[m.EntityID]}
		e, err := tx.Entity(r.session(), m.EntityID)
		switch {
		case err == nil:
			s.kind = string(e.Kind)
		case shoal.KindOf(err) == shoal.NotFound:
			s.kind = gone
		default:
			return nil, err
		}
		out[m.EntityID] = s
	}
	out.tellApart()
	return out, nil
}

// tellApart shows names that can be taken for one another with their ids.
func (s senders) tellApart() {
	names := make(map[shoal.EntityID]string, len(s))
	for id, one := range s {
		names[id] = one.name
	}
	for id, name := range naming.DisplayNames(names) {
		s[id] = sender{name, s[id].kind}
	}
}

// gone is the type of a sender that was deleted.
const gone = "deleted"

func (s senders) tell(m shoal.Message, most int) (said, error) {
	who := s[m.EntityID]
	out := said{Sender: who.name, SenderID: m.EntityID, Type: who.kind, OnBehalfOf: m.OnBehalfOf, Timestamp: m.CreatedAt, ReplyTo: m.ReplyTo, EditedAt: m.EditedAt, Reactions: m.Reactions}
	text, parts, err := shown(m, most)
	out.Text = text
	for _, part := range parts {
		raw := json.RawMessage(part)
		if !json.Valid(raw) {
			if part, err = encode(part); err != nil {
				return out, err
			}
			raw = json.RawMessage(part)
		}
		out.Parts = append(out.Parts, raw)
	}
	return out, err
}
