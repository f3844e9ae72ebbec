package hub_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// BenchmarkWakeUp measures a wake-up: a post that mentions an agent, the end of that agent's
// wait, and the acknowledgment with its next wait. Each pair has its own space.
func BenchmarkWakeUp(b *testing.B) {
	for _, pairs := range []int{1, 32} {
		b.Run(fmt.Sprintf("pairs=%d", pairs), func(b *testing.B) { benchmarkWakeUp(b, pairs) })
	}
}

func benchmarkWakeUp(b *testing.B, pairs int) {
	ctx := context.Background()
	h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(b), Bus: localbus.New()})
	if err := h.Start(ctx); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.Stop)
	as := func(role string, i int) shoal.Principal {
		id := fmt.Sprintf("%s%d", role, i)
		return shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: shoal.EntityID(id), KeyID: shoal.KeyID(id)}
	}
	for i := range pairs {
		for _, caller := range []shoal.Principal{as("sender", i), as("agent", i)} {
			if _, err := h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: caller.EntityID}, ""); err != nil {
				b.Fatal(err)
			}
		}
		space := shoal.NewSpace{ID: shoal.SpaceID(fmt.Sprintf("space%d", i)), Name: "space", Members: []shoal.EntityID{as("agent", i).EntityID}}
		if _, err := h.Spaces.Create(ctx, as("sender", i), shoal.DefaultSession, space, ""); err != nil {
			b.Fatal(err)
		}
	}
	var all sync.WaitGroup
	b.ResetTimer()
	before := cpuTime(b)
	for i := range pairs {
		woken := make(chan struct{}, 1)
		n := b.N/pairs + 1
		all.Go(func() {
			ack := ""
			for range n {
				d, err := h.Inbox.Wait(ctx, as("agent", i), &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMentions, Timeout: time.Minute, Ack: ack})
				if err != nil || d.Result.Cursor == nil {
					b.Errorf("the wait returned %+v, %v", d, err)
					return
				}
				ack = *d.Result.Cursor
				woken <- struct{}{}
			}
		})
		all.Go(func() {
			agent := as("agent", i).EntityID
			for range n {
				draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: []shoal.EntityID{agent}}
				if _, err := h.Messages.Post(ctx, as("sender", i), shoal.DefaultSession, shoal.SpaceID(fmt.Sprintf("space%d", i)), draft, ""); err != nil {
					b.Error(err)
					return
				}
				<-woken
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpuTime returns the processor time of the process so far, which depends less than the duration
// on what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
