package run

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/modelrequest"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// previewTimeout bounds how long a preview waits for MCP servers.
const previewTimeout = 5 * time.Second

// Preview returns what the model would receive at the beginning of a run. It uses the code
// of runs: the agent takes the first step of the draft with a model that records the
// request. Nothing is stored, no vendor is called and no tool is executed; MCP servers have
// five seconds to list their tools. Warnings state what a run would lack now. The
// configuration must have passed [Executor.Check].
func (e *Executor) Preview(ctx context.Context, draft storage.Run, c *agentconfig.Config) (shoal.AgentPreview, error) {
	if c.Remote != nil {
		return shoal.AgentPreview{}, shoal.E("run.Preview", shoal.Conflict, fmt.Sprintf("A program outside of the server executes the runs of %q: only that program knows what its model sees.", c.Agent.ID))
	}
	x := newExecution(ctx, e, draft)
	defer x.cancel(nil)
	defer x.servers.Close()
	x.config, x.once = c, true
	out := shoal.AgentPreview{Warnings: []string{}}
	if _, err := x.makeTools(c); err != nil {
		return out, err
	}
	o, missing, err := x.modelOptions(previewTimeout)
	if err != nil {
		return out, err
	}
	if _, err := e.o.Models(c); err != nil {
		out.Warnings = append(out.Warnings, "A run would fail: "+buildFailure(err).Message)
	}
	for _, m := range missing {
		out.Warnings = append(out.Warnings, m.String())
	}
	input, err := spacetool.Input(ctx, x.forTools())
	if err != nil {
		return out, err
	}
	request, err := firstRequest(ctx, o, input)
	if err != nil {
		return out, err
	}
	sent := modelrequest.Public(c.Model.Name, request)
	out.System, out.Tools = sent.System, sent.Tools
	messages := x.prompt.Arrange(request.Messages, request.Messages[len(request.Messages)-1].ID)
	said := make([]string, len(messages))
	for i, m := range messages {
		said[i] = m.Text()
	}
	out.Input = strings.Join(said, "\n\n")
	return out, nil
}

// firstRequest returns the request of an agent's first step.
func firstRequest(ctx context.Context, o agent.Options, input []agent.Message) (*agent.Request, error) {
	o.Reduction = agent.Reduction{} // there is nothing to shorten, and a summary would be another call
	m := &recordingModel{}
	a, err := agent.New(m, o)
	if err != nil {
		return nil, agenterror.Convert(err)
	}
	for _, err := range a.Stream(ctx, agent.OpenConversation(agent.NewMemory(), exampleConversation), input...) {
		if err != nil {
			return nil, agenterror.Convert(err)
		}
	}
	switch {
	case m.request != nil:
		return m.request, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, shoal.E("run.Preview", shoal.Internal, "the agent did not call its model")
}

const exampleConversation = "preview"

// recordingModel records the request and answers with a dash.
type recordingModel struct{ request *agent.Request }

func (m *recordingModel) Info() agent.ModelInfo {
	return agent.ModelInfo{Provider: "preview", Name: "preview"}
}

func (m *recordingModel) Stream(_ context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m.request = req
		if yield(agent.Chunk{Kind: agent.ChunkText, Text: "-"}, nil) {
			yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}, nil)
		}
	}
}
