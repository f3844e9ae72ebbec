package spaces

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Receipts returns what became of each mention of an agent in a message, for callers that may
// read the message. Mentions of people have no receipts.
func (m *Messages) Receipts(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.MessageID) (out []shoal.Receipt, err error) {
	err = m.core.View(ctx, "hub.Messages.Receipts", func(tx storage.Tx) error {
		found, err := readableMessage(tx, caller, session, id)
		if err != nil {
			return err
		}
		out, err = m.receiptsOf(tx, found)
		return err
	})
	return out, err
}

// receiptsOf returns the receipts of a message. Those of connected agents are stored with the
// entries of their inboxes. A hosted agent has no inbox: its run has every time that its
// receipt needs.
func (ms *Messages) receiptsOf(tx receiptTx, m shoal.Message) ([]shoal.Receipt, error) {
	out := []shoal.Receipt{}
	if m.EntityID == shoal.System {
		return out, nil
	}
	stored, err := tx.Mentions(m.SessionID, m.SpaceID, m.Seq, m.Mentions)
	if err != nil {
		return nil, err
	}
	byID := map[shoal.EntityID]storage.Mention{}
	for _, at := range stored {
		byID[at.EntityID] = at
	}
	for _, id := range m.Mentions {
		e, err := tx.Entity(m.SessionID, id)
		if errors.Is(err, shoal.NotFound) || err == nil && (e.Kind != shoal.Agent || id == m.EntityID) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r := shoal.Receipt{EntityID: id, State: shoal.ReceiptSent}
		if at, tracked := byID[id]; tracked {
			fillConnected(&r, ms.addDelivered(m, at))
		} else if err := fillHosted(tx, &r, m); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// addDelivered adds a delivery by this server that is not stored yet.
func (ms *Messages) addDelivered(m shoal.Message, at storage.Mention) storage.Mention {
	if at.DeliveredAt != nil {
		return at
	}
	for _, d := range ms.inbox.DeliveredMentions(storage.EntityRef{Session: m.SessionID, ID: at.EntityID}) {
		if d.Mention == (storage.MessagePosition{Space: m.SpaceID, Seq: m.Seq}) {
			at.DeliveredAt, at.Via = &d.At, d.Via
		}
	}
	return at
}

// fillConnected fills in the receipt of an agent that has the message in its inbox.
func fillConnected(r *shoal.Receipt, at storage.Mention) {
	r.DeliveredAt, r.ResumedAt = at.DeliveredAt, at.ResumedAt
	if at.Via != "" {
		r.Via = &at.Via
	}
	switch {
	case at.AnsweredBy != "":
		r.State, r.AnsweredBy, r.AnsweredAt = shoal.ReceiptAnswered, &at.AnsweredBy, at.AnsweredAt
		if r.ResumedAt == nil || r.AnsweredAt != nil && r.AnsweredAt.Before(r.ResumedAt.Time) {
			r.ResumedAt = r.AnsweredAt // an agent that answers has the message
		}
		if r.DeliveredAt == nil || r.ResumedAt != nil && r.ResumedAt.Before(r.DeliveredAt.Time) {
			r.DeliveredAt = r.ResumedAt
		}
	case at.ResumedAt != nil:
		r.State = shoal.ReceiptResumed
	case at.DeliveredAt != nil:
		r.State, r.Text = shoal.ReceiptDelivered, "returned to a wait, and not acknowledged yet"
	default:
		r.Text = "in its inbox; it reads the message when it next waits"
	}
}

// Start starts the task that announces changed receipts. It ends when the hub stops.
func (ms *Messages) Start() {
	ms.core.Go(func(ctx context.Context) {
		ms.core.Repeat(ctx, announceInterval, "receipts", ms.announceReceipts)
	})
}

// announceInterval is how often changed receipts are announced: each message at most once in
// this time.
const announceInterval = time.Second

// announceReceipts emits delivery.updated for the messages whose receipts have changed, if
// anybody follows their spaces.
func (ms *Messages) announceReceipts(ctx context.Context) error {
	announced := map[shoal.MessageID]bool{}
	for of := range ms.core.Receipts.Take() {
		session, space := core.SessionTopic(of.Session), core.SpaceTopic(of.Session, of.Space)
		if !ms.core.Bus.Watched(session) && !ms.core.Bus.Watched(space) {
			continue
		}
		m, receipts, err := ms.readReceipts(ctx, of)
		if err != nil {
			return err
		}
		if len(receipts) == 0 || announced[m.ID] {
			continue
		}
		announced[m.ID] = true
		head := core.EventHead(storage.Event{Space: m.SpaceID, Type: shoal.EventDeliveryUpdated}, shoal.Now())
		event, err := shoal.EncodeJSON(shoal.DeliveryData{EventHead: head, EntityID: m.EntityID, MessageID: m.ID, Deliveries: receipts})
		if err != nil {
			return err
		}
		for _, topic := range []string{session, space} {
			ms.core.Bus.Publish(core.Notification{Topic: topic, Event: event})
		}
	}
	return nil
}

// readReceipts returns a message with its receipts, or no receipts if it does not exist any
// more.
func (ms *Messages) readReceipts(ctx context.Context, of core.ReceiptsOf) (m shoal.Message, receipts []shoal.Receipt, err error) {
	err = ms.core.View(ctx, "hub.Messages.readReceipts", func(tx storage.Tx) (err error) {
		if of.Message != "" {
			m, err = tx.MessageByID(of.Session, of.Message)
		} else {
			var page []shoal.Message
			page, err = tx.Messages(of.Session, of.Space, storage.Page{Before: of.Seq + 1, Limit: 1})
			if err == nil && (len(page) == 0 || page[0].Seq != of.Seq) {
				err = shoal.NotFound
			}
			if err == nil {
				m = page[0]
			}
		}
		if err != nil {
			return err
		}
		receipts, err = ms.receiptsOf(tx, m)
		return err
	})
	if errors.Is(err, shoal.NotFound) {
		err = nil
	}
	return m, receipts, err
}
