package shoaltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/keep"
)

// verbs are the commands; the package comment documents them.
var verbs map[string]func(*stage, *command) error

func init() {
	verbs = map[string]func(*stage, *command) error{
		"session": newSession, "close-session": closeSession, "delete-session": deleteSession, "rights": setRights, "keep": setRetention,
		"entity": newEntity, "delete-entity": deleteEntity, "rename": rename, "change": changeEntity, "entities": listEntities, "call": call,
		"space": newSpace, "spaces": listSpaces, "get": getSpace, "set": setSpace,
		"join": joinSpace, "leave": leaveSpace, "close": closeSpace,
		"mute": muteSpace, "mark-unread": markUnread, "delete-space": deleteSpace, "members": listMembers,
		"lease": holdLease, "release-lease": releaseLease, "wake": printWakes,
		"post": post, "delete": deleteMessage, "edit": editMessage, "history": messageHistory, "react": reactTo, "read": read, "mark-read": markRead, "search": findMessages,
		"receipts": listReceipts, "resumed": resumed,
		"wait": wait, "written": respond(true), "lost": respond(false), "cancel": cancelWait, "agents": waitForAgents,
		"follow": follow, "events": events, "unfollow": unfollow,
		"key": newKey, "check": checkKey, "revoke": revokeKey,
		"agent": newAgent, "hosted": listAgents, "unhost": unhost,
		"trigger": triggerAgent, "runs": listRuns, "run": getRun, "cancel-run": cancelRun, "retry": retryRun, "versions": listVersions,
		"claim": claim, "renew": renew, "orphan": orphan, "next-claim": nextClaim,
		"start": startRun, "park": parkRun, "finish": finishRun, "delegate": delegateRun,
		"say": sayAs, "ask": ask, "take": takeAnswers, "answer": answer,
		"plan": newPlan, "set-plan": setPlan, "plans": listPlans, "delete-plan": deletePlan,
		"advance": advance, "hold": hold, "step": step, "release": release, "unsure": unsure, "restart": restart,
	}
}

// ctx is the context of every call that does not wait; it is never canceled.
var ctx = context.Background()

func newSession(s *stage, c *command) error {
	made, err := s.hub.Sessions.Create(ctx, admin, shoal.NewSession{ID: shoal.SessionID(c.word())}, "")
	if err == nil {
		s.say("%s", session(made))
	}
	return err
}

func closeSession(s *stage, c *command) error {
	closed, err := s.hub.Sessions.Close(ctx, admin, shoal.SessionID(c.word()))
	if err == nil {
		s.say("%s", session(closed))
	}
	return err
}

func setRights(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	rights := shoal.SpaceRights(c.word())
	changed, err := s.hub.Sessions.Change(ctx, caller, session, shoal.SessionChange{SpaceRights: &rights})
	if err == nil {
		s.say("%s spaceRights=%s", changed.ID, changed.SpaceRights)
	}
	return err
}

func setRetention(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	var to shoal.RetentionChange
	for name, ms := range map[string]**int64{"messages": &to.MessagesForMs, "runs": &to.RunsForMs, "prompts": &to.PromptsForMs} {
		if c.has(name) {
			d, err := c.duration(name, 0)
			if err != nil {
				return err
			}
			n := d.Milliseconds()
			*ms = &n
		}
	}
	changed, err := s.hub.Sessions.Change(ctx, caller, session, shoal.SessionChange{Retention: &to})
	if err == nil {
		r := changed.Retention
		s.say("%s keeps messages=%s runs=%s prompts=%s", changed.ID, keep.Text(r.MessagesForMs), keep.Text(r.RunsForMs), keep.Text(r.PromptsForMs))
	}
	return err
}

func deleteSession(s *stage, c *command) error {
	return s.hub.Sessions.Delete(ctx, admin, shoal.SessionID(c.word()))
}

// by returns the actor of a command, an admin unless the command names another.
func (s *stage) by(c *command) (shoal.Principal, shoal.SessionID) {
	if by := c.option("by"); by != "" {
		return s.actor(c, by)
	}
	return s.actor(c, "admin")
}

func newEntity(s *stage, c *command) error {
	caller, session := s.by(c)
	n := shoal.NewEntity{Kind: shoal.Agent, Name: c.option("name"), SessionRole: shoal.SessionRole(c.option("role"))}
	if c.flag("human") {
		n.Kind = shoal.Human
	}
	n.ID = shoal.EntityID(c.word())
	if external := c.option("external"); external != "" {
		n.ExternalID = &external
	}
	made, err := s.hub.Entities.Create(ctx, caller, session, n, c.option("once"))
	if owner := shoal.EntityID(c.option("owner")); err == nil && owner != "" {
		made, err = s.hub.Entities.Update(ctx, admin, session, made.ID, shoal.EntityChange{OwnerID: &owner})
	}
	if err == nil {
		s.say("%s", s.entity(made))
	}
	return err
}

func deleteEntity(s *stage, c *command) error {
	caller, session := s.by(c)
	return s.hub.Entities.Delete(ctx, caller, session, shoal.EntityID(c.word()))
}

func rename(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, name := shoal.EntityID(c.word()), c.word()
	change := shoal.EntityChange{Name: &name}
	if external := c.option("external"); external != "" {
		change.ExternalID = &external
	}
	e, err := s.hub.Entities.Update(ctx, caller, session, id, change)
	if err == nil {
		s.say("%s", s.entity(e))
	}
	return err
}

// changeEntity changes what only admins and owners change.
func changeEntity(s *stage, c *command) error {
	caller, session := s.by(c)
	id := shoal.EntityID(c.word())
	var change shoal.EntityChange
	if kind := shoal.EntityKind(c.option("kind")); kind != "" {
		change.Kind = &kind
	}
	if owner := shoal.EntityID(c.option("owner")); owner != "" {
		change.OwnerID = &owner
	}
	if role := shoal.SessionRole(c.option("role")); role != "" {
		change.SessionRole = &role
	}
	e, err := s.hub.Entities.Update(ctx, caller, session, id, change)
	if err == nil {
		s.say("%s", s.entity(e))
	}
	return err
}

func listEntities(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Entities.List(ctx, caller, session, "", shoal.MaxPage)
	for _, e := range all {
		s.say("%s", s.entity(e))
	}
	return err
}

func call(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	s.hub.Entities.RecordCall(caller, session)
	return nil
}

// hash returns a replacement for the hash of a named key's secret.
func hash(name string) string {
	sum := sha256.Sum256([]byte("the secret of " + name))
	return hex.EncodeToString(sum[:])
}

func newKey(s *stage, c *command) error {
	caller, session := s.by(c)
	name := c.word()
	n := shoal.NewKey{Name: name}
	if c.flag("human") {
		n.Kind = shoal.Human
	}
	if n.Role, n.EntityID = shoal.Role(c.word()), shoal.EntityID(c.word()); n.Role != shoal.RoleAdmin {
		n.SessionID = session
	}
	if c.has("expires") {
		in, err := c.duration("expires", 0)
		if err != nil {
			return err
		}
		at := shoal.At(time.Now().Add(in))
		n.ExpiresAt = &at
	}
	made, _, err := s.hub.Keys.Create(ctx, caller, n, hash(name), "")
	if err == nil {
		s.keys[name] = made.ID
		s.say("%s is %s", name, s.key(made))
	}
	return err
}

func checkKey(s *stage, c *command) error {
	name := c.word()
	k, _, err := s.hub.Keys.ByHash(ctx, hash(name))
	if err != nil {
		s.say("%s proves nothing: %s", name, shoal.KindOf(err))
		return nil
	}
	s.say("%s is %s", name, s.key(k))
	return nil
}

func revokeKey(s *stage, c *command) error {
	caller, _ := s.by(c)
	name := c.word()
	if s.keys[name] == "" {
		return fmt.Errorf("there was no key %q", name)
	}
	return s.hub.Keys.Revoke(ctx, caller, s.keys[name])
}

func advance(_ *stage, c *command) error {
	d, err := time.ParseDuration(c.word())
	if err != nil {
		return err
	}
	<-time.After(d)
	synctest.Wait()
	return nil
}

func hold(s *stage, c *command) error {
	which := reads
	switch {
	case c.flag("counts"):
		which = counts
	case c.flag("acks"):
		which = acks
	}
	s.store.hold(which)
	return nil
}

func step(s *stage, _ *command) error {
	s.store.step()
	return nil
}

func release(s *stage, _ *command) error {
	s.store.release()
	return nil
}

func unsure(s *stage, _ *command) error {
	s.store.loseResult()
	return nil
}

func restart(s *stage, c *command) error {
	keep, err := c.number("keep")
	if err != nil {
		return err
	}
	away, err := c.duration("after", 0)
	if err != nil {
		return err
	}
	if c.flag("killed") {
		s.store.refuse(true)
	}
	s.idle()
	s.hub.Stop()
	s.store.refuse(false)
	<-time.After(away)
	s.open(int(keep))
	return nil
}
