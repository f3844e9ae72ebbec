package spaces

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
)

// PostWithClient is [Messages.Post] with the input of a front end for the runs that the
// message starts; nil means no input. A repeated call with an idempotency key returns the
// first message and does not change its runs, whatever in is.
func (m *Messages) PostWithClient(ctx context.Context, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, in *storage.ClientInput, idempotencyKey string) (shoal.Message, error) {
	return m.post(ctx, "hub.Messages.PostWithClient", caller, session, space, d, in, idempotencyKey)
}

// withSender returns a copy of the input with the sender of its message.
func withSender(sender shoal.EntityID, in *storage.ClientInput) *storage.ClientInput {
	if in == nil {
		return nil
	}
	own := *in
	own.EntityID = sender
	return &own
}

// Messages posts to timelines and reads them.
type Messages struct {
	core  *core.Core
	inbox *inbox.Inbox
}

// NewMessages returns the messages of a hub; inbox reports how a message reaches those that
// it mentions.
func NewMessages(c *core.Core, inbox *inbox.Inbox) *Messages { return &Messages{c, inbox} }

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
func (m *Messages) Post(ctx context.Context, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, idempotencyKey string) (shoal.Message, error) {
	return m.post(ctx, "hub.Messages.Post", caller, session, space, d, nil, idempotencyKey)
}

func (m *Messages) post(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, d shoal.Draft, in *storage.ClientInput, idempotencyKey string) (out shoal.Message, err error) {
	if err := errors.Join(core.Authorize(caller, session, roles.Post), d.Validate(), core.CheckMentions(d.Mentions), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	sender, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	key := storage.PostKey{Scope: core.CallerName(caller), Key: idempotencyKey}
	if idempotencyKey == "" {
		key = storage.PostKey{}
	} else if key.Hash, err = core.Fingerprint(space, d); err != nil {
		return out, core.Wrap(op, err)
	}
	replayed := false
	err = m.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if key.Key != "" {
			if out, replayed, err = findReplayed(ch, session, key); err != nil {
				return err
			}
			if replayed {
				return m.inbox.RefreshReach(ch, &out)
			}
		}
		s, err := core.WritableSpace(ch, caller, session, space)
		if err != nil {
			return err
		}
		if err := mayShowFiles(ch, caller, session, d.Parts); err != nil {
			return err
		}
		if core.ReaderEntity(caller) == "" {
			if err := core.RequireMember(ch, s, sender); err != nil {
				return err
			}
		}
		out, err = m.insertMessage(ch, s, sender, d, in, key)
		if err == nil && out.Seq%core.TrimEvery == 0 {
			err = ch.TrimEvents(session, space, m.core.KeepEvents)
		}
		return err
	})
	if err == nil && !replayed {
		m.core.Metrics.Posts.Add(1)
	}
	return out, err
}

// findReplayed returns the message that was posted earlier under the key, and whether there
// is one.
func findReplayed(tx Tx, session shoal.SessionID, key storage.PostKey) (shoal.Message, bool, error) {
	first, hash, err := tx.MessageByKey(session, key.Scope, key.Key)
	switch {
	case errors.Is(err, shoal.NotFound):
		return first, false, nil
	case err == nil && hash != key.Hash:
		err = core.IdempotencyMismatch(key.Key)
	}
	return first, true, err
}

// insertMessage stores one message in an open, locked space and starts the runs that it
// triggers. The caller has checked that the sender may post there. in is the input of a
// front end for these runs, or nil.
func (m *Messages) insertMessage(ch *core.Change, s shoal.Space, sender shoal.EntityID, d shoal.Draft, in *storage.ClientInput, key storage.PostKey) (shoal.Message, error) {
	out, mentioned, err := core.InsertMessage(ch, s, sender, d, key)
	if err != nil {
		return out, err
	}
	if err := m.answerMentions(ch, out); err != nil {
		return out, err
	}
	triggered, err := runs.StartForMessage(ch, s, out, d.TriggerAgents, withSender(sender, in))
	if err != nil {
		return out, err
	}
	out.SkippedAgents, out.Runs = triggered.Skipped, triggered.Runs
	out.Reach, err = m.inbox.Reach(ch, out, mentioned, triggered)
	return out, err
}

// answerMentions records which mentions of its sender a message answers.
func (m *Messages) answerMentions(ch *core.Change, out shoal.Message) error {
	if len(out.Mentions) == 0 && out.ReplyTo == nil {
		return nil
	}
	var delivered []int64
	for _, d := range m.inbox.DeliveredMentions(storage.EntityRef{Session: out.SessionID, ID: out.EntityID}) {
		if d.Mention.Space == out.SpaceID {
			delivered = append(delivered, d.Mention.Seq)
		}
	}
	answered, err := ch.AnswerMentions(out, delivered)
	if err != nil || len(answered) == 0 {
		return err
	}
	ch.OnCommit(func() {
		for _, seq := range answered {
			ch.Core.Receipts.Changed(core.ReceiptsOf{Session: out.SessionID, Space: out.SpaceID, Seq: seq})
		}
	})
	return nil
}

// Read returns a page of a timeline in ascending order. It acknowledges nothing.
func (m *Messages) Read(ctx context.Context, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, page storage.Page) (out []shoal.Message, err error) {
	const op = "hub.Messages.Read"
	if page.Before != 0 && page.After != 0 {
		return nil, core.Wrap(op, shoal.Invalid("before", "and after exclude each other: give one of them"))
	}
	if page.Before < 0 || page.After < 0 {
		return nil, core.Wrap(op, shoal.Invalid("before", "and after are positions in a timeline and must not be negative"))
	}
	err = m.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.ReadableSpace(tx, caller, session, space); err != nil {
			return err
		}
		out, err = tx.Messages(session, space, page)
		out = core.RedactMessages(out, core.ReaderEntity(caller))
		return err
	})
	return out, err
}

// Names returns the display names of entities, including deleted ones. Ids of entities
// that never existed are left out.
func (m *Messages) Names(ctx context.Context, session shoal.SessionID, ids []shoal.EntityID) (out map[shoal.EntityID]string, err error) {
	err = m.core.View(ctx, "hub.Messages.Names", func(tx storage.Tx) error {
		out, err = tx.EntityNames(session, ids)
		return err
	})
	if out != nil {
		out[shoal.System] = naming.SystemName
	}
	return out, err
}
