package shoaltest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The scenario plays the executor: OWNER claims runs, and each command on a run writes
// under its last lease, or under an older generation.

func claim(s *stage, c *command) error {
	owner := c.word()
	limit, err := c.number("limit")
	if err != nil {
		return err
	}
	ttl, err := c.duration("ttl", 15*time.Second)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = 100
	}
	claimed, err := s.hub.Work.Claim(ctx, owner, int(limit), ttl)
	for _, r := range claimed {
		s.leases[r.ID] = runs.Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
	}
	s.printLeases(owner, claimed)
	return err
}

func renew(s *stage, c *command) error {
	owner := c.word()
	ttl, err := c.duration("ttl", 15*time.Second)
	if err != nil {
		return err
	}
	stalled, active := c.flag("stalled"), shoal.ActivityKind(c.option("active"))
	var mine []runs.Progress
	for _, lease := range s.leases {
		p := runs.Progress{Lease: lease, Stalled: stalled}
		if active != "" {
			at := time.Now()
			if stalled {
				at = at.Add(-shoal.StallAfter)
			}
			p.Activity = &shoal.RunActivity{At: shoal.At(at), Kind: active}
		}
		mine = append(mine, p)
	}
	held, err := s.hub.Work.Renew(ctx, owner, mine, ttl)
	s.printLeases(owner, held)
	return err
}

func orphan(s *stage, c *command) error { return s.hub.Work.EndOtherLeases(ctx, c.word()) }

func nextClaim(s *stage, _ *command) error {
	in, some, err := s.hub.Work.NextClaim(ctx)
	if err == nil && !some {
		s.say("never")
	} else if err == nil {
		s.say("at %s", s.since(time.Now().Add(in)))
	}
	return err
}

func (s *stage) printLeases(owner string, runs []storage.Run) {
	for _, r := range runs {
		cancel := ""
		if r.Cancel {
			cancel = ", to be canceled"
		}
		s.say("%s has %s (generation %d%s)", owner, s.runName(r.ID), r.Generation, cancel)
	}
	if len(runs) == 0 {
		s.say("%s has nothing", owner)
	}
}

// write runs do as one write of the run that the command names.
func (s *stage) write(c *command, do func(*runs.RunChange) error) error {
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	lease, claimed := s.leases[id]
	if !claimed {
		return fmt.Errorf("nobody has claimed %s", id)
	}
	if generation, err := c.number("generation"); err != nil {
		return err
	} else if generation > 0 {
		lease.Generation = generation
	}
	var changed shoal.Run
	err = s.hub.Work.Write(ctx, lease, func(ch *runs.RunChange) error {
		if err := do(ch); err != nil {
			return err
		}
		changed = ch.Run.Run
		return nil
	})
	if err == nil {
		s.say("%s", s.run(changed))
	}
	return err
}

func startRun(s *stage, c *command) error { return s.write(c, (*runs.RunChange).Start) }

func parkRun(s *stage, c *command) error { return s.write(c, (*runs.RunChange).Suspend) }

func finishRun(s *stage, c *command) error {
	code := c.option("code")
	return s.write(c, func(ch *runs.RunChange) error {
		status := shoal.RunStatus(c.word())
		var failure *shoal.RunError
		if code != "" {
			failure = &shoal.RunError{Code: code, Message: code}
		}
		return ch.Finish(status, failure)
	})
}

func delegateRun(s *stage, c *command) error {
	return s.write(c, func(ch *runs.RunChange) error {
		id, err := ch.Delegate(shoal.EntityID(c.word()))
		if err == nil {
			s.say("delegated to %s", s.runName(id))
		}
		return err
	})
}

// sayAs posts a complete message of a run, like sendSpaceMessage.
func sayAs(s *stage, c *command) error {
	mentions := c.ids("mention")
	return s.write(c, func(ch *runs.RunChange) error {
		to, text := shoal.SpaceID(c.word()), c.word()
		m, err := ch.OpenMessage(shoal.Message{SpaceID: to}, nil)
		if err != nil {
			return err
		}
		part := shoal.Text(text)
		part.ID = "prt_1"
		m.Parts, m.Mentions, m.Status = []shoal.Part{part}, mentions, shoal.MessageCompleted
		if err := ch.CloseMessage(m, nil); err != nil {
			return err
		}
		for _, id := range mentions {
			if err := ch.StartMention(to, m.ID, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask makes a run wait: for a call of a client tool, unless kind has another value.
func ask(s *stage, c *command) error {
	kind := shoal.PendingKind(c.option("kind"))
	if kind == "" {
		kind = shoal.PendingClientTool
	}
	where, target := shoal.SpaceID(c.option("space")), shoal.EntityID(c.option("target"))
	return s.write(c, func(ch *runs.RunChange) error {
		call := c.word()
		p := storage.Pending{
			PendingAction: shoal.PendingAction{Kind: kind, ToolCallID: call, ToolName: "show", Args: json.RawMessage(`{}`)},
			Request:       call, Target: target,
		}
		switch {
		case kind == storage.PendingReply:
			p.Reply = &storage.ReplyWait{Space: where, After: 1 << 40, For: []storage.ReplyFrom{{Type: "any"}}}
			s, err := ch.Space(ch.Run.SessionID, where)
			if err != nil {
				return err
			}
			p.Reply.After = s.LastSeq
		case where != "":
			p.SpaceID = &where
		}
		_, err := ch.OpenPending(p)
		return err
	})
}

// takeAnswers delivers the available answers to a run.
func takeAnswers(s *stage, c *command) error {
	return s.write(c, func(ch *runs.RunChange) error {
		rows, err := ch.PendingOf(ch.Run.SessionID, ch.Run.ID)
		if err != nil {
			return err
		}
		for _, p := range rows {
			if p.Status == shoal.PendingOpen || p.Taken {
				continue
			}
			p.Taken = true
			if err := ch.UpdatePending(p); err != nil {
				return err
			}
			s.say("%s is %s", p.ToolCallID, p.Status)
		}
		return nil
	})
}

// answer returns the result of a client tool.
func answer(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	p, err := s.hub.Pending.AnswerCall(ctx, caller, session, id, c.word(), shoal.PendingAnswer{Result: json.RawMessage(`{}`)})
	if err == nil {
		s.say("%s %s", p.ToolCallID, p.Status)
	}
	return err
}
