package httpapi

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// configOf is a config that says so much and no more.
func configOf(system string) string {
	return `{"version": "1.0", "agent": {"system": "` + system + `"}, "model": {"provider": "script", "name": "none"}}`
}

// shopConfig is the same in YAML.
const shopConfig = "version: '1.0'\nagent:\n  system: You sell laptops.\nmodel: {provider: script, name: none}\n"

// agentBase is the hosted agent of most tests.
const agentBase = base + "/agents/shop-agent"

func (w *world) host(session, id string) {
	w.Helper()
	w.do(w.admin, "PUT", "/v1/sessions/"+session+"/agents/"+id, configOf("You sell laptops.")).wants(201)
}

// shop is a space of ann, bot and a hosted agent, which nothing executes.
func shop(t *testing.T) (w *world, ann, bot string) {
	t.Helper()
	w = newWorld(t)
	ann, bot = w.entity("default", "ann"), w.entity("default", "bot")
	w.host("default", "shop-agent")
	w.space(ann, "shop", "shop-agent", "bot")
	return w, ann, bot
}

// claimed takes the lease of a run that is there to be claimed.
func (w *world) claimed(session shoal.SessionID, id shoal.RunID) (lease runs.Lease) {
	w.Helper()
	found, err := w.hub.Work.Claim(w.Context(), "test", 1000, time.Hour)
	w.must(err)
	for _, r := range found {
		if r.ID == id {
			lease = runs.Lease{Session: session, Run: id, Generation: r.Generation}
		}
	}
	return lease
}

// wakes takes the lease of a run once there is something to do for it.
func (w *world) wakes(session shoal.SessionID, id shoal.RunID) (lease runs.Lease) {
	w.Helper()
	woken := w.hub.Work.Subscribe()
	defer woken.Close()
	for {
		if lease = w.claimed(session, id); lease.Run != "" {
			return lease
		}
		select {
		case <-woken.Ready():
			woken.Take()
		case <-time.After(patience):
			w.Fatalf("nobody is woken for the run %s", id)
		}
	}
}

// asked is a suspended run and its pending actions.
type asked struct {
	run     shoal.RunID
	message shoal.MessageID
	pending []shoal.PendingID
}

// cardArgs hold what encoders like to escape.
const cardArgs = `{"name":"<MacBook> & \"Pro\"","price":1299}`

// suspends lets a run call the tools in a message of a space, and wait for them.
func (w *world) suspends(session shoal.SessionID, run shoal.RunID, space shoal.SpaceID, calls ...storage.Pending) (out asked) {
	w.Helper()
	lease := w.claimed(session, run)
	w.must(w.hub.Work.Write(w.Context(), lease, func(c *runs.RunChange) error {
		out = asked{run: run}
		if err := c.Start(); err != nil {
			return err
		}
		m, err := c.OpenMessage(shoal.Message{ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SpaceID: space}, nil)
		if err != nil {
			return err
		}
		out.message = m.ID
		for i, p := range calls {
			part := shoal.PartID("prt_" + string(rune('1'+i)))
			m.Parts = append(m.Parts, shoal.Part{
				ID: part, Type: shoal.ToolPart, ToolName: p.ToolName, ToolCallID: p.ToolCallID, Args: p.Args, Status: shoal.PartRequiresAction, Target: p.Target,
			})
			p.SpaceID, p.MessageID, p.PartID = &space, &m.ID, &part
			id, err := c.OpenPending(p)
			if err != nil {
				return err
			}
			out.pending = append(out.pending, id)
		}
		system, err := runs.NewModelText(confidential)
		tools, failed := runs.NewModelText([]shoal.ModelTool{})
		sent := runs.NewSentRequest(0, "none", system, tools, nil)
		if err := errors.Join(err, failed, c.SaveMessage(m, nil), c.SaveRequest(sent)); err != nil {
			return err
		}
		return c.Suspend()
	}))
	return out
}

func clientTool(call string) storage.Pending {
	return storage.Pending{Request: call, PendingAction: shoal.PendingAction{
		Kind: shoal.PendingClientTool, ToolCallID: call, ToolName: "showProductCard", Args: json.RawMessage(cardArgs),
	}}
}

// runOf returns the run that a message started.
func (w *world) runOf(m shoal.Message) shoal.RunID {
	w.Helper()
	for _, r := range into[page[shoal.Run]](w.do(w.admin, "GET", "/v1/sessions/"+string(m.SessionID)+"/runs", nil).wants(200)).Items {
		if r.Trigger.MessageID == m.ID {
			return r.ID
		}
	}
	w.Fatalf("the message %s started no run", m.ID)
	return ""
}
