package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// A part for one member is visible to that member, services and admins. Other readers see
// only that it exists, in snapshots, events and deltas, in the timeline, in their inbox and
// in the stream of the run.
func TestTargetedPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &streamSim{t: t, store: &hookStore{Store: shoaltest.OpenSQLite(t)}, bus: &lossyBus{Bus: localbus.New()}}
		p.bus.rnd = newStreamRand(1)
		p.start()
		defer p.hub.Stop()
		for _, id := range []shoal.EntityID{"ann", "eve", "bot"} {
			p.must(second(p.hub.Entities.Create(t.Context(), root, shoal.DefaultSession, shoal.NewEntity{ID: id}, "")))
		}
		p.must(second(p.hub.Spaces.Create(t.Context(), root, shoal.DefaultSession, shoal.NewSpace{
			ID: "shop", Name: "Shop", Members: []shoal.EntityID{"ann", "eve", "bot"},
		}, "")))
		p.lease = runs.Lease{Session: shoal.DefaultSession, Run: "run_1"}
		p.must(p.store.Update(t.Context(), storage.Global, func(tx storage.Tx) error { return tx.InsertRun(p.run()) }))
		p.takeLease()
		open := map[string]*feed.Follower{}
		follow := func(name string, caller shoal.Principal, req feed.FollowRequest) {
			req.Session = shoal.DefaultSession
			f, err := p.hub.Events.Follow(context.Background(), caller, req)
			p.must(err)
			open[name] = f
		}
		defer func() {
			for _, f := range open {
				f.Close()
			}
		}()
		eve := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "eve", KeyID: "eve"}
		begin := func(when string) {
			for name, caller := range map[string]shoal.Principal{"ann": ann, "eve": eve, "root": root} {
				follow(name+" follows the space "+when, caller, feed.FollowRequest{Space: "shop"})
				follow(name+" follows everything "+when, caller, feed.FollowRequest{})
				follow(name+" follows the run "+when, caller, feed.FollowRequest{Run: "run_1"})
			}
		}
		begin("from the start")
		part := shoal.Part{
			ID: "prt_1", Type: shoal.ToolPart, Status: shoal.PartInputStreaming, ToolName: "card", ToolCallID: "call-1", Args: json.RawMessage(`{}`), Target: "eve",
		}
		head := shoal.PartHead{MessageID: "msg_1", PartID: "prt_1"}
		m := shoal.Message{ID: "msg_1", SpaceID: "shop", Parts: []shoal.Part{part}}
		p.write(func(c *runs.RunChange) error {
			if _, err := c.OpenMessage(m, nil); err != nil {
				return err
			}
			if err := c.EmitPart("shop", "eve", shoal.EventToolInputStart, &shoal.ToolInputData{PartHead: head, ToolCallID: "call-1", ToolName: "card"}); err != nil {
				return err
			}
			return c.SaveMessage(m, nil)
		})
		relay := func(offset int, text string) {
			p.hub.Work.Relay(p.lease, []live.Delta{{Space: "shop", Message: "msg_1", Part: "prt_1", Target: "eve", Call: "call-1", Tool: "card", Offset: offset, Text: text}})
		}
		relay(0, `{"say":"sec`)
		synctest.Wait()
		begin("from the middle")
		relay(11, `ret"}`)
		m.Parts[0].Args, m.Parts[0].Status = json.RawMessage(`{"say":"secret"}`), shoal.PartRunning
		p.write(func(c *runs.RunChange) error {
			if err := c.EmitPart("shop", "eve", shoal.EventToolInputAvailable, &shoal.ToolInputData{
				PartHead: head, ToolCallID: "call-1", ToolName: "card", Args: m.Parts[0].Args,
			}); err != nil {
				return err
			}
			where := m.SpaceID
			if _, err := c.OpenPending(storage.Pending{
				PendingAction: shoal.PendingAction{Kind: shoal.PendingClientTool, SpaceID: &where, ToolCallID: "call-1", ToolName: "card", Args: m.Parts[0].Args},
				Request:       "r1", Target: "eve",
			}); err != nil {
				return err
			}
			return c.UpdateMessage(m, nil)
		})
		begin("while it waits")
		m.Parts[0].Result, m.Parts[0].Status, m.Parts[0].AnsweredBy = json.RawMessage(`"secret, too"`), shoal.PartDone, "eve"
		p.write(func(c *runs.RunChange) error {
			if err := c.EmitPart("shop", "eve", shoal.EventToolOutputAvailable, &shoal.ToolOutputData{
				PartHead: head, ToolCallID: "call-1", ToolName: "card", Status: shoal.PartDone, Result: m.Parts[0].Result,
			}); err != nil {
				return err
			}
			m.Status = shoal.MessageCompleted
			return c.CloseMessage(m, nil)
		})
		begin("at the end")
		for name, f := range open {
			var all strings.Builder
			for {
				events, err := f.Next(context.Background(), time.Now().Add(time.Millisecond))
				p.must(err)
				if len(events) == 0 {
					break
				}
				for _, ev := range events {
					all.WriteString(string(ev.Type) + " " + string(ev.Data) + "\n")
				}
			}
			checkSecret(t, name, all.String())
		}
		for name, caller := range map[string]shoal.Principal{"ann": ann, "eve": eve, "root": root} {
			messages, err := p.hub.Messages.Read(t.Context(), caller, shoal.DefaultSession, "shop", storage.Page{Limit: 10})
			p.must(err)
			checkSecret(t, name+" reads", asJSON(messages))
			if caller.EntityID == "" {
				continue
			}
			d, err := p.hub.Inbox.Wait(t.Context(), caller, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages})
			p.must(err)
			checkSecret(t, name+" waits", asJSON(d.Result))
		}
	})
}

func checkSecret(t *testing.T, name, seen string) {
	t.Helper()
	hidden := strings.HasPrefix(name, "ann")
	if strings.Contains(seen, "sec") == hidden || strings.Contains(seen, `"card"`) == hidden {
		t.Errorf("%s: visibility of the part is wrong in\n%s", name, seen)
	}
	if !strings.Contains(seen, "prt_1") {
		t.Errorf("%s: the part is missing in\n%s", name, seen)
	}
}
