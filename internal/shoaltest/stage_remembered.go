package shoaltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Remembered decisions; stage_pending.go documents the commands.

func listRemembered(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Pending.Remembered(ctx, caller, session, "", 50)
	for _, d := range all {
		by, where := "an admin", "no space"
		if d.EntityID != nil {
			by = string(*d.EntityID)
		}
		if d.SpaceID != nil {
			where = string(*d.SpaceID)
		}
		s.say("%s %s %s of %s in %s by %s for %v args=%s until %s", d.Decision, d.Scope, d.ToolName, d.AgentID, where, by, d.Requesters, d.Args, s.since(d.ExpiresAt.Time))
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func forgetDecision(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Pending.Remembered(ctx, admin, session, "", 50)
	if err != nil {
		return err
	}
	var n int
	if err := json.Unmarshal([]byte(c.word()), &n); err != nil || n < 1 {
		return fmt.Errorf("the number of a decision: %w", err)
	}
	id := shoal.RememberedID("dec_gone")
	if n <= len(all) {
		id = all[n-1].ID
	}
	if err := s.hub.Pending.Forget(ctx, caller, session, id); err != nil {
		s.say("%s", strings.ReplaceAll(errorText(err), string(id), "it"))
		return nil
	}
	s.say("forgotten")
	return nil
}

// parseRemember reads remember=allow|deny[,call|tool[,MS]].
func parseRemember(c *command) *shoal.Remember {
	if !c.has("remember") {
		return nil
	}
	words := append(strings.Split(c.option("remember"), ","), "", "")
	r := &shoal.Remember{Decision: words[0], Scope: words[1]}
	_ = json.Unmarshal([]byte(words[2]), &r.ForMs) // empty is the default
	return r
}
