package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
)

// PermissionRequest asks whether an agent may call a tool, for an agent that no run executes.
// The first request is without ID; each further one names the ID that it returned, keeps the
// request open for 45 seconds, and has neither tool, arguments nor space. Wait is how long to
// wait for the answer, at most 20 seconds. Withdrawn takes the request back.
type PermissionRequest struct {
	ID        shoal.PendingID
	SpaceID   shoal.SpaceID
	ToolName  string
	Args      json.RawMessage
	Wait      time.Duration
	Withdrawn bool
}

// AskPermission opens a pending action that no run waits for, or goes on with one. It is for
// the agent itself: Forbidden for others. It returns the action as it is then; once that is
// answered, its Decision says what was decided. A request that nobody asks about is canceled.
func (s *Session) AskPermission(ctx context.Context, agent shoal.EntityID, r PermissionRequest) (out shoal.PendingAction, err error) {
	body := struct {
		ID        shoal.PendingID `json:"id,omitempty"`
		SpaceID   shoal.SpaceID   `json:"spaceId,omitempty"`
		ToolName  string          `json:"toolName,omitempty"`
		Args      json.RawMessage `json:"args,omitempty"`
		WaitMs    int64           `json:"waitMs,omitempty"`
		Withdrawn bool            `json:"withdrawn,omitempty"`
	}{r.ID, r.SpaceID, r.ToolName, r.Args, r.Wait.Milliseconds(), r.Withdrawn}
	in := call{op: "client.AskPermission", method: http.MethodPost, path: s.path("entities", string(agent), "permissions"), body: body, within: r.Wait + answerWithin}
	return out, s.client.do(ctx, in, &out)
}
