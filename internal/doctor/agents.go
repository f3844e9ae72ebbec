package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
)

// agents reports for each connected agent whether it is waiting for messages.
func (x *examination) agents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	now := time.Now()
	seen := 0
	for e, err := range x.client.Session(x.Session).Entities(ctx) {
		if err != nil {
			x.fail("agents", "they cannot be listed: "+message(err), "check the server's log")
			return
		}
		x.proof(e)
		if e.Kind != shoal.Agent || e.Hosted {
			continue
		}
		seen++
		x.agent(e, now)
	}
	if seen == 0 {
		x.ok("agents", fmt.Sprintf("none is connected to the session %s yet", x.Session))
	}
}

// keys reports the keys of agents that expire soon or have expired. A caller that may not list keys
// skips it.
func (x *examination) keys(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	now := time.Now()
	for k, err := range x.client.Keys(ctx) {
		switch {
		case shoal.KindOf(err) == shoal.Forbidden:
			return
		case err != nil:
			x.fail("keys", "they cannot be listed: "+message(err), "check the server's log")
			return
		case k.EntityID == nil || k.ExpiresAt == nil || k.ExpiresAt.Sub(now) > shoal.KeyExpiresSoon:
			continue
		}
		detail := "has expired"
		if left := k.ExpiresAt.Sub(now); left > 0 {
			detail = "expires in " + shoal.Roughly(left)
		}
		x.warn("key "+string(k.ID), fmt.Sprintf("that of %s %s", *k.EntityID, detail), fmt.Sprintf("create another with `shoal keys create --entity %s` and give it to its client", *k.EntityID))
	}
}

// proof reports what came of the last test whether a mention wakes an agent, if there was one.
func (x *examination) proof(e shoal.Entity) {
	if e.Kind != shoal.Agent || e.Wake == nil || e.Wake.Proof == nil {
		return
	}
	check := "wake-up of " + string(e.ID)
	if !e.Wake.Proof.Answered {
		x.warn(check, e.Wake.Proof.String(), fmt.Sprintf("see that its client runs, and test again with `shoal wake test %s`", e.ID))
		return
	}
	x.ok(check, e.Wake.Proof.String())
}

func (x *examination) agent(e shoal.Entity, now time.Time) {
	check := "agent " + string(e.ID)
	last := "was never here"
	if e.LastSeenAt != nil {
		last = "was last here " + shoal.Roughly(now.Sub(e.LastSeenAt.Time)) + " ago"
	}
	switch {
	case e.Wake != nil && e.Wake.Since != nil:
		x.ok(check, e.Wake.Text)
	case e.State == shoal.Waiting && e.WaitEndsAt != nil:
		x.ok(check, fmt.Sprintf("waits, for another %s", max(0, e.WaitEndsAt.Sub(now)).Round(time.Second)))
	case e.State == shoal.Waiting, e.State == shoal.Running:
		x.ok(check, string(e.State))
	case e.State == shoal.Connected:
		x.ok(check, "is connected and does not wait; "+last)
	case e.LastSeenAt == nil:
		x.warn(check, last, "connect its client with its key, and let it call wait_for_mentions")
	default:
		x.warn(check, "is offline; "+last, "see that its client still runs and calls wait_for_mentions again after each answer")
	}
}
