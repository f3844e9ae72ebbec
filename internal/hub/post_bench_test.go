package hub_test

import (
	"context"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// BenchmarkPost measures a durable post into a space with two connected agents: alone, and
// concurrently with others that share its commit.
func BenchmarkPost(b *testing.B) {
	ctx := context.Background()
	h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(b), Bus: localbus.New()})
	if err := h.Start(ctx); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.Stop)
	for _, id := range []shoal.EntityID{"ann", "bot"} {
		if _, err := h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: id}, ""); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := h.Spaces.Create(ctx, ann, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "shop", Members: []shoal.EntityID{"bot"}}, ""); err != nil {
		b.Fatal(err)
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := say(h, "hello"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := say(h, "hello"); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}
