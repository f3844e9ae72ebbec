package hub_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// That a key acknowledges explicitly is stored once while its agent works off its inbox.
func TestExplicitKeyIsStoredOnce(t *testing.T) {
	store := &explicitCounter{Store: shoaltest.OpenSQLite(t)}
	h := shop(t, func(o *hub.Options) { o.Store = store })
	ack := ""
	for range 4 {
		_, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: []shoal.EntityID{"bot"}}, "")
		must(t, err)
		d, err := h.Inbox.Wait(t.Context(), bot, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMentions, Timeout: time.Minute, Ack: ack})
		must(t, err)
		if len(d.Result.Items) != 1 || len(d.Result.Items[0].Messages) != 1 || d.Result.Items[0].Messages[0].Delivery != 1 {
			t.Fatalf("the wait returned %+v, want the last message", d.Result)
		}
		ack = *d.Result.Cursor
	}
	if n := store.n.Load(); n != 1 {
		t.Errorf("it was stored %d times in 3 acknowledgments, want 1", n)
	}
}

// explicitCounter is a store that counts the calls of SetExplicit.
type explicitCounter struct {
	storage.Store
	n atomic.Int64
}

func (c *explicitCounter) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	return c.Store.Update(ctx, at, func(tx storage.Tx) error { return fn(explicitTx{tx, &c.n}) })
}

type explicitTx struct {
	storage.Tx
	n *atomic.Int64
}

func (tx explicitTx) SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error {
	tx.n.Add(1)
	return tx.Tx.SetExplicit(session, entity, key)
}
