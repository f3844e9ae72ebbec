package talk

import (
	"context"
	"regexp"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// atName is a name after an @ in a text.
var atName = regexp.MustCompile(`(?:^|[\s(])@([A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]|[A-Za-z0-9])`)

// maxNoted limits the names that noteUnmentioned asks the server about.
const maxNoted = 5

// noteUnmentioned prints a note about each member whose name is in the text of a message that does
// not mention it: the message does not wake it, unless it is the agent that acts without a mention.
func noteUnmentioned(ctx context.Context, sh *cli.Shell, session *client.Session, posted shoal.Message, text string) {
	var noted []shoal.EntityID
	for _, found := range atName.FindAllStringSubmatch(text, -1) {
		id := shoal.EntityID(found[1])
		acts := slices.ContainsFunc(posted.Runs, func(r shoal.StartedRun) bool { return r.AgentID == id })
		if acts || id == posted.EntityID || slices.Contains(noted, id) || slices.Contains(posted.Mentions, id) || slices.Contains(posted.DroppedMentions, id) {
			continue
		}
		if noted = append(noted, id); len(noted) > maxNoted {
			return
		}
		if _, err := session.Member(ctx, posted.SpaceID, id); err != nil {
			continue // it is not a member, or the note is lost: the message was posted
		}
		sh.Output.Note("@%s is only text, and does not wake %s: add -m %s to mention it", id, id, id)
	}
}
