package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// longLease is longer than any test.
const longLease = time.Hour

// putAgent stores a configuration of an agent; each call creates a version.
func putAgent(t *testing.T, h *hub.Hub, id shoal.EntityID, change func(*storage.Agent)) {
	t.Helper()
	a := storage.Agent{
		HostedAgent:  shoal.HostedAgent{ID: id, SessionID: shoal.DefaultSession, Hash: shoal.NewID[string](""), Config: json.RawMessage(`{}`)},
		OnNewMessage: "parallel", MaxSteps: 5,
	}
	if change != nil {
		change(&a)
	}
	_, _, err := h.Agents.Put(context.Background(), root, a)
	must(t, err)
}

// claimOne claims the only run that is due.
func claimOne(t *testing.T, h *hub.Hub, owner string) (storage.Run, runs.Lease) {
	t.Helper()
	claimed, err := h.Work.Claim(context.Background(), owner, 10, longLease)
	must(t, err)
	if len(claimed) != 1 {
		t.Fatalf("%s claimed %d runs, want 1", owner, len(claimed))
	}
	return claimed[0], runs.Lease{Session: claimed[0].SessionID, Run: claimed[0].ID, Generation: claimed[0].Generation}
}

func write(h *hub.Hub, l runs.Lease, do func(*runs.RunChange) error) error {
	return h.Work.Write(context.Background(), l, do)
}

func complete(c *runs.RunChange) error { return c.Finish(shoal.RunCompleted, nil) }

func runOf(t *testing.T, h *hub.Hub, id shoal.RunID) shoal.Run {
	t.Helper()
	r, err := h.Runs.Get(context.Background(), root, shoal.DefaultSession, id)
	must(t, err)
	return r
}

// Defects of earlier systems with runs, as far as they concern the hub. The numbers are
// those of docs/defects.md.
func TestRunDefects(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, h *hub.Hub){
		"D22 a canceled run went on and was completed later":             canceledStays,
		"D23 a run died with its process, and two of them could have it": leases,
		"D24 delegating canceled before it checked the target":           delegatesOrNothing,
		"D25 agents that mention each other never came to an end":        circleEnds,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := shop(t, nil)
				putAgent(t, h, "bot", nil)
				test(t, h)
			})
		})
	}
}

func canceledStays(t *testing.T, h *hub.Hub) {
	ctx := context.Background()
	_, err := say(h, "go")
	must(t, err)
	run, lease := claimOne(t, h, "w")
	must(t, write(h, lease, (*runs.RunChange).Start))
	ready := h.Work.Subscribe()
	defer ready.Close()

	answer := make(chan shoal.Run, 1)
	go func() {
		r, err := h.Runs.Cancel(ctx, ann, shoal.DefaultSession, run.ID)
		if err != nil {
			t.Errorf("cancel: %v", err)
		}
		answer <- r
	}()
	<-ready.Ready() // the executor is notified
	held, err := h.Work.Renew(ctx, "w", []runs.Progress{{Lease: lease}}, longLease)
	must(t, err)
	if len(held) != 1 || !held[0].Cancel {
		t.Fatalf("the executor sees %+v, want one run to be canceled", held)
	}
	must(t, write(h, lease, func(c *runs.RunChange) error { return c.Finish(shoal.RunCanceled, &shoal.RunError{Code: "canceled"}) }))
	if r := <-answer; r.Status != shoal.RunCanceled || r.EndedAt == nil {
		t.Errorf("cancel returned %s, want canceled", r.Status)
	}
	if err := write(h, lease, complete); !errors.Is(err, runs.ErrLeaseLost) {
		t.Errorf("the executor completes it afterwards: got %v, want ErrLeaseLost", err)
	}
	if r := runOf(t, h, run.ID); r.Status != shoal.RunCanceled {
		t.Errorf("the run is %s, want canceled", r.Status)
	}
}

func leases(t *testing.T, h *hub.Hub) {
	ctx := context.Background()
	_, err := say(h, "go")
	must(t, err)
	claimed, err := h.Work.Claim(ctx, "first", 10, 15*time.Second)
	must(t, err)
	old := runs.Lease{Session: shoal.DefaultSession, Run: claimed[0].ID, Generation: claimed[0].Generation}
	must(t, write(h, old, (*runs.RunChange).Start))

	// The process dies and does not renew. One other server continues the run.
	next, _, err := h.Work.NextClaim(ctx)
	must(t, err)
	<-time.After(next)
	run, lease := claimOne(t, h, "second")
	if run.ID != old.Run || run.Generation != old.Generation+1 || run.Status != shoal.RunRunning {
		t.Fatalf("the second server has %s %s in generation %d", run.ID, run.Status, run.Generation)
	}
	if again, err := h.Work.Claim(ctx, "third", 10, longLease); err != nil || len(again) != 0 {
		t.Errorf("a third server claimed %v, %v, want nothing", again, err)
	}
	ran := false
	err = write(h, old, func(c *runs.RunChange) error {
		ran = true
		return complete(c)
	})
	if !errors.Is(err, runs.ErrLeaseLost) || ran {
		t.Errorf("the first server writes again: got %v, ran %t, want ErrLeaseLost", err, ran)
	}
	must(t, write(h, lease, complete))
}

func delegatesOrNothing(t *testing.T, h *hub.Hub) {
	ctx := context.Background()
	admin := shoal.EntityID("bot")
	_, err := h.Spaces.Update(ctx, ann, shoal.DefaultSession, "shop", shoal.SpaceChange{AdminAgentID: &admin})
	must(t, err)
	_, err = say(h, "laptops?")
	must(t, err)
	run, lease := claimOne(t, h, "w")
	must(t, write(h, lease, (*runs.RunChange).Start))
	for _, target := range []shoal.EntityID{"ann", "nobody", "bot", ""} {
		err := write(h, lease, func(c *runs.RunChange) error {
			_, err := c.Delegate(target)
			return err
		})
		if !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("delegating to %q: %v, want InvalidArgument", target, err)
		}
	}
	if r := runOf(t, h, run.ID); r.Status != shoal.RunRunning {
		t.Fatalf("after failed delegations the run is %s, want running, or the message is lost", r.Status)
	}

	putAgent(t, h, "clerk", nil)
	_, err = h.Spaces.Join(ctx, ann, shoal.DefaultSession, "shop", "clerk")
	must(t, err)
	var to shoal.RunID
	must(t, write(h, lease, func(c *runs.RunChange) (err error) {
		if to, err = c.Delegate("clerk"); err != nil {
			return err
		}
		return c.Finish(shoal.RunCanceled, &shoal.RunError{Code: "canceled"})
	}))
	got := runOf(t, h, to)
	if got.AgentID != "clerk" || got.Trigger.MessageContent != "laptops?" || got.Trigger.SenderEntityID != "ann" || got.CauseRoot != run.CauseRoot {
		t.Errorf("the clerk's run is %+v, want one on what ann said", got)
	}
}

func circleEnds(t *testing.T, h *hub.Hub) {
	ctx := context.Background()
	circle := make([]shoal.EntityID, 10)
	for i := range circle {
		circle[i] = shoal.EntityID(fmt.Sprintf("agent%d", i))
		putAgent(t, h, circle[i], nil)
	}
	_, err := h.Spaces.Create(ctx, ann, shoal.DefaultSession, shoal.NewSpace{ID: "ring", Name: "ring", Members: circle, AdminAgentID: &circle[0]}, "")
	must(t, err)
	_, err = h.Messages.Post(ctx, ann, shoal.DefaultSession, "ring", shoal.Draft{Parts: []shoal.Part{shoal.Text("go")}, Mentions: circle[:1]}, "")
	must(t, err)

	started := 0
	for {
		claimed, err := h.Work.Claim(ctx, "w", 1, longLease)
		must(t, err)
		if len(claimed) == 0 {
			break
		}
		if started++; started > 2*len(circle) {
			t.Fatal("the agents start each other without end")
		}
		lease := runs.Lease{Session: claimed[0].SessionID, Run: claimed[0].ID, Generation: claimed[0].Generation}
		next := circle[started%len(circle)]
		must(t, write(h, lease, func(c *runs.RunChange) error {
			for range 2 { // each of two mentions starts a run
				if err := mention(c, "ring", next); err != nil {
					return err
				}
				if started < 6 {
					break
				}
			}
			return complete(c)
		}))
	}
	if started != 6 {
		t.Errorf("%d runs started, want 6, of the depths 0 to 5", started)
	}
	page, err := h.Messages.Read(ctx, ann, shoal.DefaultSession, "ring", storage.Page{Limit: shoal.MaxPage})
	must(t, err)
	notices := 0
	for _, m := range page {
		if m.EntityID == shoal.System {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("the space received %d notices, want 1", notices)
	}
}

// mention makes a run post a message that mentions an entity.
func mention(c *runs.RunChange, space shoal.SpaceID, id shoal.EntityID) error {
	m, err := c.OpenMessage(shoal.Message{SpaceID: space}, nil)
	if err != nil {
		return err
	}
	part := shoal.Text("your turn")
	part.ID = "prt_1"
	m.Parts, m.Mentions, m.Status = []shoal.Part{part}, []shoal.EntityID{id}, shoal.MessageCompleted
	if err := c.CloseMessage(m, nil); err != nil {
		return err
	}
	return c.StartMention(space, m.ID, id)
}

// However many servers use the same store, each run is claimed once and each time of a plan
// fires once (D23).
func TestReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		store, bus := shoaltest.OpenSQLite(t), localbus.New()
		options := func(o *hub.Options) { o.Store, o.Bus, o.NextTime = store, bus, calendar.NextTime }
		servers := []*hub.Hub{shop(t, options)}
		for range 3 {
			h := hub.New(hub.Options{Store: store, Bus: bus, NextTime: calendar.NextTime})
			must(t, h.Start(ctx))
			t.Cleanup(h.Stop)
			servers = append(servers, h)
		}
		putAgent(t, servers[0], "bot", nil)
		hourly := "0 * * * *"
		_, err := servers[0].Plans.Create(ctx, root, shoal.DefaultSession, "bot", shoal.NewPlan{Name: "tick", Cron: &hourly}, "")
		must(t, err)
		<-time.After(5*time.Hour + time.Minute)
		for range 15 {
			_, err := say(servers[0], "go")
			must(t, err)
		}

		var mu sync.Mutex
		times := map[shoal.RunID]int{}
		var all sync.WaitGroup
		for i, h := range servers {
			all.Go(func() {
				for {
					claimed, err := h.Work.Claim(ctx, fmt.Sprint(i), 2, longLease)
					if err != nil {
						t.Errorf("claim: %v", err)
					}
					mu.Lock()
					for _, r := range claimed {
						times[r.ID]++
					}
					mu.Unlock()
					if len(claimed) == 0 {
						return
					}
				}
			})
		}
		all.Wait()
		if len(times) != 5+15 {
			t.Errorf("%d runs were claimed, want 5 of the plan and 15 of messages", len(times))
		}
		for id, n := range times {
			if n != 1 {
				t.Errorf("%s was claimed %d times", id, n)
			}
		}
	})
}

// A mention that is the reply an agent waits for resumes its run and starts no second one.
func TestReplyStartsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h := shop(t, nil)
		admin := shoal.EntityID("bot")
		putAgent(t, h, "bot", nil)
		_, err := h.Spaces.Update(ctx, ann, shoal.DefaultSession, "shop", shoal.SpaceChange{AdminAgentID: &admin})
		must(t, err)
		putAgent(t, h, "clerk", nil)
		_, err = h.Spaces.Join(ctx, ann, shoal.DefaultSession, "shop", "clerk")
		must(t, err)

		_, err = say(h, "go")
		must(t, err)
		asking, lease := claimOne(t, h, "w")
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if err := c.Start(); err != nil {
				return err
			}
			if err := mention(c, "shop", "clerk"); err != nil {
				return err
			}
			wait := &storage.ReplyWait{Space: "shop", After: 2, For: []storage.ReplyFrom{{Type: "entity", EntityID: "clerk"}}}
			if _, err := c.OpenPending(storage.Pending{PendingAction: shoal.PendingAction{Kind: storage.PendingReply}, Request: "r", Reply: wait}); err != nil {
				return err
			}
			return c.Suspend()
		}))
		if r := runOf(t, h, asking.ID); r.Status != shoal.RunWaitingReply {
			t.Fatalf("the run is %s, want waiting_reply", r.Status)
		}
		_, lease = claimOne(t, h, "w")
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if err := mention(c, "shop", "bot"); err != nil {
				return err
			}
			return complete(c)
		}))
		if woken, _ := claimOne(t, h, "w"); woken.ID != asking.ID {
			t.Errorf("the mention started %s, want %s to continue with the reply", woken.ID, asking.ID)
		}
	})
}

// A run that waits for a busy agent starts after the other run, however that one ends.
func TestEnqueuedRunStarts(t *testing.T) {
	ctx := context.Background()
	for name, end := range map[string]func(t *testing.T, h *hub.Hub, run storage.Run, lease runs.Lease){
		"completed": func(t *testing.T, h *hub.Hub, _ storage.Run, lease runs.Lease) { must(t, write(h, lease, complete)) },
		"canceled before it began": func(t *testing.T, h *hub.Hub, run storage.Run, _ runs.Lease) {
			_, err := h.Runs.Cancel(ctx, ann, shoal.DefaultSession, run.ID)
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := shop(t, nil)
				putAgent(t, h, "bot", func(a *storage.Agent) { a.OnNewMessage = "enqueue" })
				for _, text := range []string{"one", "two", "three"} {
					_, err := say(h, text)
					must(t, err)
				}
				first, lease := claimOne(t, h, "w")
				ready := h.Work.Subscribe()
				defer ready.Close()
				end(t, h, first, lease)
				<-ready.Ready()
				if next, _ := claimOne(t, h, "w"); next.Trigger.MessageContent != "two" {
					t.Errorf("next is %q, want two", next.Trigger.MessageContent)
				}
			})
		})
	}
}

// skewedStore is a store whose clock can be set back.
type skewedStore struct {
	storage.Store
	by time.Duration
}

func (s *skewedStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(skewedTx{tx, s.by}) })
}

func (s *skewedStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.View(ctx, func(tx storage.Tx) error { return fn(skewedTx{tx, s.by}) })
}

type skewedTx struct {
	storage.Tx
	by time.Duration
}

func (t skewedTx) Now() (shoal.Time, error) {
	now, err := t.Tx.Now()
	return shoal.At(now.Add(-t.by)), err
}

// A run that waits for nothing is due even if the clock says that it will be created later.
func TestRunIsDueAfterClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &skewedStore{Store: shoaltest.OpenSQLite(t)}
		h := shop(t, func(o *hub.Options) { o.Store = store })
		putAgent(t, h, "bot", nil)
		_, err := say(h, "go")
		must(t, err)
		store.by = 24 * time.Hour
		if run, _ := claimOne(t, h, "w"); run.Trigger.MessageContent != "go" {
			t.Errorf("claimed %q, want go", run.Trigger.MessageContent)
		}
	})
}
