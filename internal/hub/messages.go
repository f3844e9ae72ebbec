package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/naming"
)

// Messages posts to timelines and reads them.
type Messages struct {
	*core
	inbox *Inbox
}

// NewMessages returns the messages of a hub; inbox reports how a message reaches those that
// it mentions.
func NewMessages(c *core, inbox *Inbox) *Messages { return &Messages{c, inbox} }

// Post adds a message of the acting entity to a space that it is in. Mentions of
// entities that are not members are dropped and listed in DroppedMentions. A message
// posted under an idempotency key is stored once for as long as it exists: the same call
// returns the same message, a different call fails with IdempotencyMismatch. Waits for
// the message wake after the commit.
//
// The same transaction starts the hosted agents that act on the message. SkippedAgents
// of the returned message are those that accept no messages while they run, Runs are the
// runs that were started, and Reach is how each mentioned agent is reached; none of the
// three is stored. Post fails with InvalidArgument when a reply names a message that is
// not in the same space, or when a part shows a file of this server that the sender may
// not see.
func (m *Messages) Post(ctx context.Context, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, idempotencyKey string) (shoal.Message, error) {
	return m.post(ctx, "hub.Messages.Post", who, session, space, d, nil, idempotencyKey)
}

func (m *Messages) post(ctx context.Context, op string, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, in *ClientInput, idempotencyKey string) (out shoal.Message, err error) {
	if err := errors.Join(enter(who, session), d.Validate(), checkMentions(d.Mentions), checkOnce(idempotencyKey)); err != nil {
		return out, wrap(op, first(err))
	}
	sender, err := actor(who)
	if err != nil {
		return out, wrap(op, err)
	}
	key := PostKey{Scope: who.Scope(), Key: idempotencyKey}
	if idempotencyKey == "" {
		key = PostKey{}
	} else if key.Hash, err = fingerprint(space, d); err != nil {
		return out, wrap(op, err)
	}
	replayed := false
	err = m.change(ctx, op, func(ch *change) (err error) {
		if key.Key != "" {
			if out, replayed, err = replay(ch, session, key); err != nil {
				return err
			}
			if replayed {
				return m.inbox.reachAgain(ch, &out)
			}
		}
		s, err := changes(ch, who, session, space)
		if err != nil {
			return err
		}
		if who.Manages() {
			if err := mayAct(ch, s, sender); err != nil {
				return err
			}
		}
		out, err = m.insert(ch, s, sender, d, in, key)
		if err == nil && out.Seq%TrimEvery == 0 {
			err = ch.TrimEvents(session, space, m.keepEvents)
		}
		return err
	})
	if err == nil && !replayed {
		m.figures.posts.Add(1)
	}
	return out, err
}

// TrimEvery is after how many messages the events of a space are trimmed; a store finds
// the events to remove among as many messages.
const TrimEvery = 256

// replay returns the message that was posted earlier under the key.
func replay(tx Tx, session shoal.SessionID, key PostKey) (shoal.Message, bool, error) {
	first, hash, err := tx.MessageByKey(session, key.Scope, key.Key)
	switch {
	case errors.Is(err, shoal.NotFound):
		return first, false, nil
	case err == nil && hash != key.Hash:
		err = mismatch(key.Key)
	}
	return first, true, err
}

// mayAct checks that the entity an admin acts as is a member of the space.
func mayAct(tx Tx, s shoal.Space, sender shoal.EntityID) error {
	in, err := tx.IsMember(s.SessionID, s.ID, sender)
	if err != nil || in {
		return err
	}
	if _, err := entityOf(tx, s.SessionID, sender); err != nil {
		return err
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is no member of the space %q; add it first.", sender, s.ID))
}

// announce posts a system message to an open, locked space. It starts no runs.
func announce(ch *change, s shoal.Space, text string, mentions []shoal.EntityID, key PostKey) (shoal.Message, error) {
	m, _, err := insertMessage(ch, s, shoal.System, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}, key)
	return m, err
}

// insert stores one message in an open, locked space and starts the runs that it is for.
// The caller has checked that the sender may post there. in is the input of a front end
// for the runs that the message starts, or nil.
func (m *Messages) insert(ch *change, s shoal.Space, sender shoal.EntityID, d shoal.Draft, in *ClientInput, key PostKey) (shoal.Message, error) {
	out, mentioned, err := insertMessage(ch, s, sender, d, key)
	if err != nil {
		return out, err
	}
	set, err := trigger(ch, s, out, d.TriggerAgents, clientInputFrom(sender, in))
	if err != nil {
		return out, err
	}
	out.SkippedAgents, out.Runs = set.skipped, set.runs
	out.Reach, err = m.inbox.reach(ch, out, mentioned, set)
	return out, err
}

// insertMessage stores a message in an open, locked space, shows the files that it names
// there and delivers it. It returns the message and the members that it mentions. The
// caller has checked that the sender may post there.
func insertMessage(ch *change, s shoal.Space, sender shoal.EntityID, d shoal.Draft, key PostKey) (out shoal.Message, mentioned []MemberKind, err error) {
	out = shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: s.SessionID, SpaceID: s.ID, Seq: s.LastSeq + 1,
		EntityID: sender, Status: shoal.MessageCompleted, CreatedAt: ch.at, UpdatedAt: ch.at,
		Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{}, Parts: numbered(d.Parts),
	}
	if err := replies(ch, &out, d.ReplyTo); err != nil {
		return out, nil, err
	}
	if mentioned, err = sortMentions(ch, &out, d.Mentions); err != nil {
		return out, nil, err
	}
	if err := ch.PostMessage(out, key); err != nil {
		return out, nil, err
	}
	ch.told(s.SessionID, s.ID)
	if err := showFiles(ch, out); err != nil {
		return out, nil, err
	}
	return out, mentioned, ch.deliver(out)
}

// replies makes m a reply to the message to of its space, unless to is empty.
func replies(tx Tx, m *shoal.Message, to shoal.MessageID) error {
	if to == "" {
		return nil
	}
	var err error = shoal.NotFound
	if mayBe(to) {
		_, err = tx.Message(m.SessionID, m.SpaceID, to)
	}
	if errors.Is(err, shoal.NotFound) {
		return shoal.Invalid("replyTo", fmt.Sprintf("names no message of the space %q: reply to one that you read there", m.SpaceID))
	}
	m.ReplyTo = &to
	return err
}

// numbered returns the parts of a posted message with their ids and statuses.
func numbered(parts []shoal.Part) []shoal.Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].ID = shoal.PartID(fmt.Sprintf("%s%d", shoal.PrefixPart, i+1))
		out[i].Target, out[i].Private = "", false // only tool calls set them; posted parts are for all members
		if out[i].Type == shoal.TextPart {
			out[i].Status = shoal.PartDone
		}
	}
	return out
}

// checkMentions rejects mentions that are not valid ids. Entities that are not members
// pass; sortMentions drops and lists them.
func checkMentions(ids []shoal.EntityID) error {
	for i, id := range ids {
		if id != shoal.System && !mayBe(id) {
			return shoal.CheckID(fmt.Sprintf("mentions[%d]", i), string(id))
		}
	}
	return nil
}

// sortMentions sets the mentions and the dropped mentions of m, each entity once, and
// returns the mentioned members.
func sortMentions(tx Tx, m *shoal.Message, asked []shoal.EntityID) ([]MemberKind, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	members, err := tx.MembersAmong(m.SessionID, m.SpaceID, asked)
	if err != nil {
		return nil, err
	}
	for _, id := range asked {
		list := &m.DroppedMentions
		if slices.ContainsFunc(members, func(k MemberKind) bool { return k.ID == id }) {
			list = &m.Mentions
		}
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	return members, nil
}

// Read returns a page of a timeline in ascending order. It acknowledges nothing.
func (m *Messages) Read(ctx context.Context, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, page Page) (out []shoal.Message, err error) {
	const op = "hub.Messages.Read"
	if page.Before != 0 && page.After != 0 {
		return nil, wrap(op, shoal.Invalid("before", "and after exclude each other: give one of them"))
	}
	if page.Before < 0 || page.After < 0 {
		return nil, wrap(op, shoal.Invalid("before", "and after are places of a timeline and never negative"))
	}
	err = m.view(ctx, op, func(tx Tx) error {
		if _, err := sees(tx, who, session, space); err != nil {
			return err
		}
		out, err = tx.Messages(session, space, page)
		out = forReader(out, reader(who))
		return err
	})
	return out, err
}

// Names returns the display names of entities, including deleted ones. Ids of entities
// that never existed are left out.
func (m *Messages) Names(ctx context.Context, session shoal.SessionID, ids []shoal.EntityID) (out map[shoal.EntityID]string, err error) {
	err = m.view(ctx, "hub.Messages.Names", func(tx Tx) error {
		out, err = tx.EntityNames(session, ids)
		return err
	})
	if out != nil {
		out[shoal.System] = naming.SystemName
	}
	return out, err
}
