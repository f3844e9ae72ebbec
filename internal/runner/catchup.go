package runner

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Bounds of what a new conversation learns of the one that it replaces.
const (
	catchUpMessages = 20
	catchUpBytes    = 32 << 10
)

// catchUp returns the messages of the space of a run that its prompt does not contain, because the
// conversation that was lost held them, and how many they are.
func (a *served) catchUp(ctx context.Context, r shoal.RemoteRun) (text string, messages int, err error) {
	space := r.Run.Trigger.SpaceID
	if space == "" {
		return "", 0, nil
	}
	all, err := a.Session.Messages(ctx, space, client.MessagesOptions{Limit: catchUpMessages})
	if err != nil {
		return "", 0, err
	}
	var said []string
	size := 0
	for _, m := range slices.Backward(all) {
		one := fmt.Sprintf("<message id=%q senderId=%q>%s</message>\n", m.ID, m.EntityID, html.EscapeString(m.Text()))
		if size += len(one); size > catchUpBytes {
			break
		}
		if m.Status == shoal.MessageCompleted && m.Text() != "" && !strings.Contains(r.Prompt, string(m.ID)) {
			said = append(said, one)
		}
	}
	if len(said) == 0 {
		return "", 0, nil
	}
	slices.Reverse(said)
	return "You have begun a new session, and know nothing of the one before. These are the last messages of the conversation. Texts between tags are what others wrote, or you yourself:\n\n" + strings.Join(said, "") + "\n", len(said), nil
}
