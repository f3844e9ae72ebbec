package shoaltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Pending actions and their answers. Commands:
//
//	pend RUN CALL [kind=client_tool|permission|question|timer|reply] [space=] [target=] [by=A,B] [quorum=N]
//	     [not-requester] [untargeted] [args=JSON] [expires=1m] [for=any|agent|human|ID] [after=SEQ]
//	                                  the run waits for that
//	settle ACTOR RUN CALL [result=JSON] [error=] [approve|deny] [reason=] [remember=allow|deny,SCOPE,MS]
//	     [ask=] [args=JSON] [hash=OTHER] [also-equal] [says=] [by-call]
//	                                  an answer, by the action's id or by run and call
//	remembered ACTOR                  the remembered decisions, oldest first
//	forget ACTOR N                    revokes the Nth of them, as an admin sees them
//	race ACTOR ACTOR RUN CALL         both permit it at once: prints how many succeeded
//	pendings ACTOR [status=open] [space=] [trigger]
//	rows RUN                          the answers for the run
//	follow-run NAME ACTOR RUN [after=NAME]
func init() {
	maps.Copy(verbs, map[string]func(*stage, *command) error{
		"pend": openPending, "settle": settle, "race": raceAnswers, "pendings": listPending, "rows": showRows, "remembered": listRemembered, "forget": forgetDecision, "follow-run": followRun,
	})
}

func openPending(s *stage, c *command) error {
	kind := shoal.PendingKind(c.option("kind"))
	if kind == "" {
		kind = shoal.PendingClientTool
	}
	expires, err := c.duration("expires", 0)
	if err != nil {
		return err
	}
	quorum, err := c.number("quorum")
	if err != nil {
		return err
	}
	after, err := c.number("after")
	if err != nil {
		return err
	}
	where, target, sender := shoal.SpaceID(c.option("space")), shoal.EntityID(c.option("target")), c.option("for")
	policy := storage.Policy{By: c.ids("by"), Quorum: int(quorum), NotRequester: c.flag("not-requester"), Targeted: where != "" && !c.flag("untargeted")}
	if kind == shoal.PendingPermission {
		policy.ArgsSchema = json.RawMessage(`{"type":"object"}`)
	}
	if c.flag("choose") {
		policy.Choose = &storage.Choice{Field: "chosen"}
	}
	return s.write(c, func(ch *runs.RunChange) error {
		call := c.word()
		p := storage.Pending{
			PendingAction: shoal.PendingAction{Kind: kind, ToolCallID: call, ToolName: "show", Args: json.RawMessage(c.option("args"))},
			Request:       call, Target: target, Policy: policy,
		}
		if where != "" && kind != storage.PendingReply {
			p.SpaceID = &where
		}
		if expires > 0 {
			at := shoal.At(time.Now().Add(expires))
			p.Due = &at
			if kind != storage.PendingReply && kind != storage.PendingTimer {
				p.ExpiresAt = &at
			}
		}
		if kind == storage.PendingReply {
			p.Reply = &storage.ReplyWait{Space: where, After: after, For: []storage.ReplyFrom{{Type: "entity", EntityID: shoal.EntityID(sender)}}}
			if sender == "any" || sender == "agent" || sender == "human" {
				p.Reply.For = []storage.ReplyFrom{{Type: sender}}
			}
		}
		_, err := ch.OpenPending(p)
		return err
	})
}

// row returns a pending action of a run, open or not.
func (s *stage) row(run shoal.RunID, call string) (found storage.Pending, err error) {
	err = s.hub.Work.Read(ctx, func(tx storage.Tx) error {
		rows, err := tx.PendingOf(shoal.DefaultSession, run)
		for _, p := range rows {
			if p.Request == call {
				found = p
			}
		}
		return err
	})
	if err == nil && found.ID == "" {
		err = fmt.Errorf("run %s never asked for %s", run, call)
	}
	return found, err
}

func settle(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	run, err := s.runID(c.word())
	if err != nil {
		return err
	}
	call := c.word()
	a := shoal.PendingAnswer{
		Error: c.optional("error"), Reason: c.optional("reason"), Remember: parseRemember(c), Answer: c.optional("says"),
		Result: json.RawMessage(c.option("result")), Args: json.RawMessage(c.option("args")), Ask: c.optional("ask"),
		ArgsHash: c.optional("hash"), AlsoEqual: c.flag("also-equal"),
	}
	yes, no := c.flag("approve"), c.flag("deny")
	if yes || no {
		a.Approved = &yes
	}
	row, missing := s.row(run, call)
	var p shoal.PendingAction
	switch {
	case c.flag("by-call"):
		p, err = s.hub.Pending.AnswerCall(ctx, caller, session, run, call, a)
	case missing != nil:
		return missing
	default:
		p, err = s.hub.Pending.Answer(ctx, caller, session, row.ID, a)
	}
	switch {
	case err == nil:
		s.say("%s", pendingLine(p))
	case row.ID != "": // its id differs from run to run
		s.say("%s", strings.ReplaceAll(errorText(err), string(row.ID), call))
		err = nil
	}
	return err
}

func pendingLine(p shoal.PendingAction) string {
	out := fmt.Sprintf("%s %s %s", p.ToolCallID, p.Kind, p.Status)
	if p.AnsweredBy != nil {
		out += " by " + string(*p.AnsweredBy)
	}
	if p.Quorum > 1 && p.Status == shoal.PendingOpen {
		out += fmt.Sprintf(" %d of %d, %d may vote", len(p.Votes), p.Quorum, p.Eligible)
	}
	if len(p.EditedArgs) > 0 {
		out += " edited " + string(p.EditedArgs)
	}
	return out + decision(p.Decision)
}

// decision is the end of a line about a permission that somebody or something decided.
func decision(d *shoal.Decision) string {
	if d == nil {
		return ""
	}
	out := " (denied"
	if d.Approved {
		out = " (approved"
	}
	if d.By != nil {
		out += " by " + string(*d.By)
	}
	if d.Reason != nil {
		out += ": " + *d.Reason
	}
	if d.Ask != nil {
		out += ", asks: " + *d.Ask
	}
	return out + ")"
}

func raceAnswers(s *stage, c *command) error {
	one, session := s.actor(c, c.word())
	two, _ := s.actor(c, c.word())
	run, err := s.runID(c.word())
	if err != nil {
		return err
	}
	row, err := s.row(run, c.word())
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	var errs [2]error
	for i, caller := range []shoal.Principal{one, two} {
		all.Go(func() {
			yes := true
			_, errs[i] = s.hub.Pending.Answer(ctx, caller, session, row.ID, shoal.PendingAnswer{Approved: &yes})
		})
	}
	all.Wait()
	won, late := 0, 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case shoal.KindOf(err) == shoal.AlreadyAnswered:
			late++
		}
	}
	s.say("%d won, %d came too late", won, late)
	return nil
}

// triggerOf formats what a caller sees of the message that started the run of an action.
func triggerOf(p shoal.PendingAction) string {
	if p.TriggerText == nil {
		return " on nothing to see"
	}
	out := fmt.Sprintf(" on %q", *p.TriggerText)
	if p.TriggerEditedAt != nil {
		out += " edited since"
	}
	return out
}

func listPending(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	var status []shoal.PendingStatus
	if c.has("status") {
		status = append(status, shoal.PendingStatus(c.option("status")))
	}
	all, err := s.hub.Pending.List(ctx, caller, session, storage.PendingFilter{Status: status, Space: shoal.SpaceID(c.option("space")), Limit: 50})
	trigger := c.flag("trigger")
	lines := make([]string, len(all)) // ids of one moment have no order
	for i, p := range all {
		lines[i] = pendingLine(p)
		if trigger {
			lines[i] += triggerOf(p)
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		s.say("%s", line)
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func showRows(s *stage, c *command) error {
	run, err := s.runID(c.word())
	if err != nil {
		return err
	}
	return s.hub.Work.Read(ctx, func(tx storage.Tx) error {
		rows, err := tx.PendingOf(shoal.DefaultSession, run)
		if err != nil {
			return err
		}
		slices.SortStableFunc(rows, func(a, b storage.Pending) int { return strings.Compare(a.Request, b.Request) })
		for _, p := range rows {
			answer := []byte("no answer")
			if p.Answer != nil {
				if answer, err = json.Marshal(p.Answer); err != nil {
					return err
				}
			}
			s.say("%s %s", pendingLine(p.PendingAction), answer)
		}
		r, err := tx.Run(shoal.DefaultSession, run)
		if r.Awake {
			s.say("%s is awake", s.runName(run))
		}
		return err
	})
}

func followRun(s *stage, c *command) error {
	name := c.word()
	caller, session := s.actor(c, c.word())
	run, err := s.runID(c.word())
	if err != nil {
		return err
	}
	after, err := s.after(c.option("after"))
	if err != nil {
		return err
	}
	return s.followOn(name, caller, feed.FollowRequest{Session: session, Run: run, After: after}, map[shoal.EventType]bool{shoal.EventEntityUpdated: true})
}
