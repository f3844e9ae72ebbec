package aisdkapi

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
)

// stream shows what follows until there is nothing more to wait for. The error is that of a client that has
// disconnected; any other one is in the stream.
func (x *response) stream() error {
	x.w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	x.out = eventstream.New(x.w, x.WriteTimeout)
	defer x.out.Close()
	x.view.emit(chunk{Type: "start", MessageID: x.id})
	for _, i := range x.ignored {
		x.view.emit(ignored(i))
	}
	err := x.Play(x.r.Context(), x.view, x)
	if err == nil || x.r.Context().Err() != nil || errors.Is(err, eventstream.ErrGone) {
		return err
	}
	x.view.closeAll()
	x.view.emit(chunk{Type: "error", ErrorText: guard.Public(x.report(x.w, x.r, err))})
	_ = x.finish() // an error means that the client has disconnected
	return err
}

// ignored is the chunk that names what has no effect. Clients give it to their onData and do not keep it.
func ignored(i chatapi.Ignored) chunk { return chunk{Type: "data-ignored", Data: i, Transient: true} }

// Flush sends what is new; see [exchange.Client].
func (x *response) Flush() error { return eventstream.Write(x.out, x.view.take()) }

// Beat checks the key again, and keeps the connection open.
func (x *response) Beat() error {
	if err := x.CheckCaller(x.r, x.caller); err != nil {
		return err
	}
	return x.out.Beat()
}

// Over ends the stream when all runs have ended or wait for the client.
func (x *response) Over(ctx context.Context) (bool, error) {
	state, waiting, err := x.State(ctx, func(w shoal.PendingAction) bool { _, has := x.view.had.calls[callID(w)]; return has })
	if err != nil {
		return false, err
	}
	if state == exchange.Active {
		x.nameWaits()
		return false, x.Flush()
	}
	refused, err := x.RefusedTools(ctx, x.sent)
	if err != nil {
		return false, err
	}
	for _, i := range refused {
		name := x.sent.Tools[i].Name
		x.view.emit(ignored(chatapi.Ignored{What: "tools." + name, Why: chatapi.OwnTool(name)}))
	}
	for _, w := range waiting {
		x.view.offer(w)
	}
	x.end(len(waiting) > 0)
	return true, x.finish()
}

// waiting names a run that waits for somebody else.
type waiting struct {
	AgentID shoal.EntityID  `json:"agentId"`
	RunID   shoal.RunID     `json:"runId"`
	Status  shoal.RunStatus `json:"status"`
	Tools   []string        `json:"tools"`
}

// nameWaits says that nothing goes on until somebody else does something.
func (x *response) nameWaits() {
	for _, run := range x.Runs {
		if !run.Status.Ended() && !run.Status.Suspended() {
			return
		}
	}
	for id, run := range x.Runs {
		if !run.Status.Suspended() || x.named[id] || len(run.PendingToolCalls) == 0 && run.WaitingFor == nil {
			continue // it goes on when its answer is there
		}
		x.named[id] = true
		tools := []string{}
		for _, call := range run.PendingToolCalls {
			tools = append(tools, call.ToolName)
		}
		x.view.emit(chunk{Type: "data-waiting", Data: waiting{run.AgentID, id, run.Status, tools}, Transient: true})
	}
}

// end adds the chunks that end the message. asks means that something waits for the client.
func (x *response) end(asks bool) {
	x.view.closeAll()
	canceled := len(x.Runs) > 0
	for _, run := range x.Runs {
		if failure := run.Failure(); failure != nil {
			x.view.emit(chunk{Type: "error", ErrorText: failure.Message})
			return
		}
		canceled = canceled && run.Status == shoal.RunCanceled
	}
	if x.view.step {
		x.view.emit(chunk{Type: "finish-step"})
	}
	if canceled {
		x.view.emit(chunk{Type: "abort", Reason: "The run was canceled."})
	}
	reason := "stop"
	if asks {
		reason = "tool-calls"
	}
	x.view.emit(chunk{Type: "finish", FinishReason: reason, Metadata: map[string]any{"usage": usageOf(x.Usage())}})
}

// finish sends what is left, and the end of the stream.
func (x *response) finish() error {
	if err := x.Flush(); err != nil {
		return err
	}
	return x.out.WriteText("[DONE]")
}

// usage is what runs have used, in the words of the AI SDK.
type usage struct {
	InputTokens       int64 `json:"inputTokens"`
	OutputTokens      int64 `json:"outputTokens"`
	TotalTokens       int64 `json:"totalTokens"`
	CachedInputTokens int64 `json:"cachedInputTokens"`
	ReasoningTokens   int64 `json:"reasoningTokens"`
}

func usageOf(u shoal.Usage) usage {
	return usage{u.InputTokens, u.OutputTokens, u.InputTokens + u.OutputTokens, u.CachedInputTokens, u.ReasoningTokens}
}
