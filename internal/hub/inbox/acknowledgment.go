package inbox

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// checkRights checks that the entity of the wait exists and may read the space that the wait
// is limited to.
func (w *HeldWait) checkRights(tx Tx) error {
	session, entity := w.req.Session, w.box.key.ID
	if _, err := core.FindEntity(tx, session, entity); err != nil || w.req.Space == "" {
		return err
	}
	_, err := core.ReadableSpace(tx, shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: entity, KeyID: w.caller.KeyID}, session, w.req.Space)
	return err
}

// acknowledge checks that the wait is allowed and acknowledges earlier batches: those up
// to the cursor of the call, or, for a key that never sent one, the previous batch if its
// response was written completely. A wait that is not allowed acknowledges nothing.
func (w *HeldWait) acknowledge(ctx context.Context) error {
	w.filter, w.clear = storage.InboxFilter{Kind: w.req.Kind, Space: w.req.Space, From: w.req.From}, unknownPlace
	if w.req.Ack != "" {
		at, err := parseCursor(w.box.key, w.req.Ack)
		if err != nil {
			return err
		}
		if err := scopes.Space(w.caller.Scopes, at.filter.Space); err != nil {
			return err // the cursor is that of a wait of another key
		}
		return w.acknowledgeCursor(ctx, at)
	}
	if err := w.inbox.core.Store.View(ctx, func(tx storage.Tx) error { return w.checkRights(tx) }); err != nil {
		return err
	}
	if w.adapter || w.box.isExplicit(w.caller.KeyID) {
		return nil
	}
	if w.req.Redeliver {
		w.box.publishRedelivery(w.caller.KeyID)
	} else {
		if err := w.box.awaitResponses(ctx, w.caller.KeyID); err != nil {
			return err
		}
	}
	return w.acknowledgeBatches(ctx, w.box.takeBatches(w.caller.KeyID, w.req.Redeliver))
}

// acknowledgeBatches acknowledges batches of a key that has never acknowledged explicitly.
func (w *HeldWait) acknowledgeBatches(ctx context.Context, done []*batch) error {
	if len(done) == 0 {
		return nil
	}
	key, known, explicit, more := w.box.key, w.box.known(), false, false
	var end int64
	var resumed []storage.MessagePosition
	err := w.inbox.core.Store.Update(ctx, storage.In(key.Session), func(tx storage.Tx) (err error) {
		resumed = nil
		// Only the database knows whether this key has acknowledged explicitly: before
		// the mailbox existed, or on another server.
		if explicit, err = tx.Explicit(key.Session, key.ID, w.caller.KeyID); err != nil || explicit {
			return err
		}
		for _, h := range done {
			acked, err := tx.Acknowledge(key.Session, key.ID, w.inbox.fromHorizon(key, h.filter), h.upTo, known)
			if err != nil {
				return err
			}
			more, resumed = acked.More, append(resumed, acked.Mentions...)
		}
		end, err = tx.InboxEnd(key.Session)
		return err
	})
	switch {
	case err != nil:
		return err
	case explicit:
		w.box.setExplicit(w.caller.KeyID)
		return nil
	}
	w.inbox.receiptsChanged(key.Session, resumed)
	for _, h := range done {
		w.acknowledged(h.filter, h.upTo, end, more)
	}
	return nil
}

// acknowledged records that everything up to a place is acknowledged that matches a filter.
// If no more matches it, the wait knows that nothing up to the end of the inbox does.
func (w *HeldWait) acknowledged(f storage.InboxFilter, upTo, end int64, more bool) {
	w.box.apply(func(x *machine) { x.acknowledge(f, upTo) })
	if w.clear = unknownPlace; !more && end > 0 && sameFilter(f, w.filter) {
		w.clear = end
	}
}

// acknowledgeCursor acknowledges the batch that a cursor names, in one transaction with the
// check of the call that sent it. A cursor of another lineage acknowledges nothing.
func (w *HeldWait) acknowledgeCursor(ctx context.Context, at inboxCursor) error {
	key, known, here, more := w.box.key, w.box.known(), false, false
	// If the key acknowledges explicitly, that is stored, and remains as long as the key may call.
	explicit := w.box.isExplicit(w.caller.KeyID)
	var end int64
	var resumed []storage.MessagePosition
	err := w.inbox.core.Store.Update(ctx, storage.In(key.Session), func(tx storage.Tx) (err error) {
		if err := w.checkRights(tx); err != nil {
			return err
		}
		if here, err = w.inbox.core.Descends(tx, key.Session, at.epoch, at.event); err != nil || !here {
			return err
		}
		if at.upTo, here, err = at.place(tx, key); err != nil || !here {
			return err
		}
		if end, err = tx.InboxEnd(key.Session); err != nil {
			return err
		}
		if at.upTo > end {
			return invalidCursor()
		}
		if !explicit && !w.adapter {
			if err := tx.SetExplicit(key.Session, key.ID, w.caller.KeyID); err != nil {
				return err
			}
		}
		acked, err := tx.Acknowledge(key.Session, key.ID, w.inbox.fromHorizon(key, at.filter), at.upTo, known)
		more, resumed = acked.More, acked.Mentions
		return err
	})
	if err != nil || !here {
		return err
	}
	if !w.adapter {
		w.box.setExplicit(w.caller.KeyID)
	}
	w.inbox.receiptsChanged(key.Session, resumed)
	w.acknowledged(at.filter, at.upTo, end, more)
	return nil
}

// receiptsChanged announces that the receipts of messages have changed.
func (b *Inbox) receiptsChanged(session shoal.SessionID, of []storage.MessagePosition) {
	for _, at := range of {
		b.core.Receipts.Changed(core.ReceiptsOf{Session: session, Space: at.Space, Seq: at.Seq})
	}
}
