package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// PendingOptions narrow a list of pending actions, if set.
type PendingOptions struct {
	// Status defaults to PendingOpen: the actions that can be answered.
	Status []shoal.PendingStatus
	Space  shoal.SpaceID
	Run    shoal.RunID
	// Newest lists the newest first.
	Newest bool
}

// PendingActions lists pending actions, by default the oldest first: for an entity those
// that its spaces show and those that it may answer, for services and admins all.
func (s *Session) PendingActions(ctx context.Context, o PendingOptions) iter.Seq2[shoal.PendingAction, error] {
	order := ""
	if o.Newest {
		order = "newest"
	}
	q := filters(map[string]string{"status": joined(o.Status), "space": string(o.Space), "run": string(o.Run), "order": order})
	return list[shoal.PendingAction](ctx, s.client, call{op: "client.PendingActions", path: s.path("pending-actions"), query: q})
}

// AnswerPending settles a pending action and returns it, or votes on one that needs several
// equal answers. The first answer wins: a different one fails with AlreadyAnswered, and
// repeating the same one changes nothing, so that the call can be retried. It fails with
// Expired if the action is not open any more.
func (s *Session) AnswerPending(ctx context.Context, id shoal.PendingID, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	in := call{op: "client.AnswerPending", method: http.MethodPost, path: s.path("pending-actions", string(id), "answer"), body: a}
	return out, s.client.do(ctx, in, &out)
}

// RememberedDecisions lists the decisions that answer later calls, in the order of ids,
// as far as the caller sees them.
func (s *Session) RememberedDecisions(ctx context.Context) iter.Seq2[shoal.RememberedDecision, error] {
	return list[shoal.RememberedDecision](ctx, s.client, call{op: "client.RememberedDecisions", path: s.path("remembered-decisions")})
}

// ForgetDecision revokes a remembered decision: the next call asks again.
func (s *Session) ForgetDecision(ctx context.Context, id shoal.RememberedID) error {
	in := call{op: "client.ForgetDecision", method: http.MethodDelete, path: s.path("remembered-decisions", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}

// AnswerToolCall is [Session.AnswerPending] by run and tool call, for programs that execute
// the client tools of an agent. It fails with RunNotWaiting if the run waits for nothing.
func (s *Session) AnswerToolCall(ctx context.Context, run shoal.RunID, toolCall string, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	in := call{op: "client.AnswerToolCall", method: http.MethodPost, path: s.path("runs", string(run), "tool-results")}
	in.body = struct {
		CallID string `json:"callId"`
		shoal.PendingAnswer
	}{toolCall, a}
	return out, s.client.do(ctx, in, &out)
}
