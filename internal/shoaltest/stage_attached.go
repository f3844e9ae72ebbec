package shoaltest

import (
	"maps"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/pending"
)

// Commands about what a program asks for an agent that no run executes:
//
//	ask-permission ACTOR TOOL [space=] [back]
//
// It opens a request, or goes on with the open one of the tool; back takes it back.
func init() {
	maps.Copy(verbs, map[string]func(*stage, *command) error{"ask-permission": askPermission})
}

func askPermission(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	tool := c.word()
	known := s.asked[tool]
	ask := pending.Ask{ID: known, Withdrawn: c.flag("back")}
	if known == "" {
		ask.ToolName, ask.SpaceID = tool, shoal.SpaceID(c.option("space"))
	}
	asked, err := s.hub.Pending.Ask(ctx, caller, session, caller.EntityID, ask)
	if err != nil {
		return err
	}
	if s.asked == nil {
		s.asked = map[string]shoal.PendingID{}
	}
	s.asked[tool] = asked.ID
	s.say("%s in %s is %s", tool, *asked.SpaceID, asked.Status)
	return nil
}
