package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// BenchmarkRelay measures the delivery of one delta to the readers of a space. 200 runs
// that write 30 deltas a second, each for five readers, need 6,000 a second.
func BenchmarkRelay(b *testing.B) {
	for _, readers := range []int{1, 5} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) { relayTo(b, readers) })
	}
}

func relayTo(b *testing.B, readers int) {
	ctx := b.Context()
	store := shoaltest.OpenSQLite(b)
	h := hub.New(hub.Options{Store: store, Bus: localbus.New()})
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	check(h.Start(ctx))
	defer h.Stop()
	for _, id := range []shoal.EntityID{"ann", "bot"} {
		check(second(h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")))
	}
	check(second(h.Spaces.Create(ctx, root, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "Shop", Members: []shoal.EntityID{"ann", "bot"}}, "")))
	p := &streamSim{}
	run, until := p.run(), shoal.At(time.Now().Add(time.Hour))
	run.Owner, run.LeaseUntil, run.Generation = "me", &until, 1
	check(store.Update(ctx, storage.Global, func(tx storage.Tx) error { return tx.InsertRun(run) }))
	lease := runs.Lease{Session: shoal.DefaultSession, Run: "run_1", Generation: 1}
	check(h.Work.Write(ctx, lease, func(c *runs.RunChange) error {
		m, err := c.OpenMessage(shoal.Message{ID: "msg_1", SpaceID: "shop"}, nil)
		if err != nil {
			return err
		}
		head := shoal.PartHead{MessageID: "msg_1", PartID: "prt_1"}
		if err := c.EmitPart("shop", "", shoal.EventTextStart, &shoal.TextData{PartHead: head}); err != nil {
			return err
		}
		m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Status: shoal.PartStreaming}}
		return c.SaveMessage(m, nil)
	}))
	had := make(chan int, readers)
	for range readers {
		f, err := h.Events.Follow(ctx, ann, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"})
		check(err)
		defer f.Close()
		if _, err := f.Next(ctx, time.Now().Add(time.Second)); err != nil {
			b.Fatal(err)
		}
		go func() {
			n := 0
			for {
				events, err := f.Next(context.Background(), time.Now().Add(200*time.Millisecond))
				if err != nil || len(events) == 0 {
					had <- n
					return
				}
				n += len(events)
			}
		}()
	}
	delta := []live.Delta{{Space: "shop", Message: "msg_1", Part: "prt_1", Text: " word"}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		delta[0].Offset = i * 5
		h.Work.Relay(lease, delta)
	}
	b.StopTimer()
	for range readers {
		if n := <-had; n == 0 {
			b.Error("a reader received nothing")
		}
	}
}
