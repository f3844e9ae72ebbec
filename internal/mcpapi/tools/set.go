// Package tools holds the tools that agents call over MCP, and what the resources return. It
// knows neither the transports nor the MCP SDK: a call is a tool, a caller and JSON.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Set makes the tools of one server. Hub and Log are required. A Set is safe for concurrent use.
type Set struct {
	Hub *hub.Hub
	// Remote executes what the tools of remote agents report; without it nobody has them.
	Remote *remoterun.Server
	// Log receives every attempt to act as another entity.
	Log *slog.Logger
}

// Tool is one tool as clients see it, and the function that executes it.
type Tool struct {
	Name, Description string
	// InputSchema and OutputSchema are JSON Schemas. OutputSchema is nil for a tool whose
	// result has no schema.
	InputSchema, OutputSchema json.RawMessage
	// Waits reports that a call may block until its time-out.
	Waits bool
	// Remote reports that only remote agents are offered the tool: see [Set.IsRemote].
	Remote bool
	// ReadOnly, Idempotent and Destructive become the annotations of the tool.
	ReadOnly, Idempotent, Destructive bool
	// Run executes a call with arguments in JSON. Its error is a *shoal.Error whose fields have the
	// names of the tool's inputs, or the cause that ended ctx.
	Run func(ctx context.Context, c Caller, arguments []byte) (Result, error)
	// RunShortly is Run for callers that continue a long wait elsewhere, for example on a
	// goroutine with a smaller stack. If the call still waits after while, RunShortly returns
	// only the rest of it. It is nil for tools that cannot be continued.
	RunShortly func(ctx context.Context, c Caller, arguments []byte, while time.Duration) (Result, *Rest, error)
	// Read returns what such a call would return if it did not wait. It acknowledges nothing but what
	// the arguments name. It is nil where RunShortly is.
	Read func(ctx context.Context, c Caller, arguments []byte) (Result, error)
}

// Rest is the rest of a call whose wait is still open. The caller waits for Open and passes what
// it returned to Result, once each: while a call waits, its stack holds no more frames than
// necessary.
type Rest struct {
	Open   *inbox.HeldWait
	result func(context.Context, *inbox.Delivery, error) (Result, error)
}

// Result returns the result of the call, whose wait has returned d and err.
func (r *Rest) Result(ctx context.Context, d *inbox.Delivery, err error) (Result, error) {
	return r.result(ctx, d, err)
}

// Caller is the principal that a key proved, and the session of the call. Two callers are the
// same exactly if they are equal.
type Caller struct {
	Principal shoal.Principal
	Session   shoal.SessionID
}

// Result is the result of a successful call.
type Result struct {
	// Texts are what a model reads.
	Texts []string
	// Structured is the same as the type that the REST API returns, or a list of them.
	Structured any
	// Delivery is the delivery of a wait, nil for other tools. The transport reports on it
	// once it has written the response.
	Delivery *inbox.Delivery
}

// Tools returns all tools in the order in which clients see them.
func (s Set) Tools() []*Tool {
	rows := []*tool{
		registerAgent(), listAgents(), waitForAgents(),
		createThread(), listThreads(), addParticipant(), removeParticipant(), muteThread(), closeThread(),
		sendMessage(), editMessage(), react(), deleteMessage(), waitForMentions(), waitForMessages(), readThread(), searchMessages(),
		listPendingActions(), answerPendingAction(),
	}
	if s.Remote != nil {
		rows = append(rows, beginMessage(), appendText(), showCard(), ask(), finishMessage())
	}
	out := make([]*Tool, len(rows))
	for i, t := range rows {
		out[i] = &Tool{
			Name: t.name, Description: t.about, InputSchema: inputSchema(t.inputs), OutputSchema: outputSchema(t.output),
			Waits: t.waits, Remote: t.remote, ReadOnly: t.reads, Idempotent: t.reads || t.repeats, Destructive: t.removes,
			Run: func(ctx context.Context, c Caller, arguments []byte) (Result, error) {
				return s.run(ctx, t, c, arguments)
			},
		}
		if t.wait != nil {
			out[i].RunShortly = func(ctx context.Context, c Caller, arguments []byte, while time.Duration) (Result, *Rest, error) {
				return s.runShortly(ctx, t, c, arguments, while, false)
			}
			out[i].Read = func(ctx context.Context, c Caller, arguments []byte) (Result, error) {
				out, _, err := s.runShortly(ctx, t, c, arguments, shoal.MaxWait, true)
				return out, err
			}
		}
	}
	return out
}

// run executes a call to its end.
func (s Set) run(ctx context.Context, t *tool, c Caller, raw []byte) (Result, error) {
	if t.wait != nil {
		out, _, err := s.runShortly(ctx, t, c, raw, shoal.MaxWait, false) // no wait is open for longer
		return out, err
	}
	made, err := s.newCall(t, c, raw)
	if err != nil {
		return Result{}, err
	}
	return t.finish(t.call(ctx, made))
}

// runShortly executes a call of a tool that waits, or the part of it until while has passed. With
// onlyReads it does not wait.
func (s Set) runShortly(ctx context.Context, t *tool, c Caller, raw []byte, while time.Duration, onlyReads bool) (Result, *Rest, error) {
	made, err := s.newCall(t, c, raw)
	if err != nil {
		return Result{}, nil, err
	}
	made.onlyReads = onlyReads
	d, open, err := t.wait(ctx, made, while)
	if open != nil {
		made.arguments = arguments{}
		return Result{}, &Rest{open, func(ctx context.Context, d *inbox.Delivery, err error) (Result, error) {
			return t.finish(made.waited(ctx, d, err))
		}}, nil
	}
	out, err := t.finish(made.waited(ctx, d, err))
	return out, nil, err
}

// newCall decodes the arguments of a call and checks the actor that they name.
func (s Set) newCall(t *tool, c Caller, raw []byte) (*call, error) {
	if err := scopes.Tool(c.Principal.Scopes, t.name); err != nil {
		return nil, err
	}
	args, err := t.decode(raw)
	if err != nil {
		return nil, err
	}
	if claimed, found := args.impostor(c.Principal); found {
		s.Log.Warn("a caller named another actor", "tool", t.name, "key", c.Principal.KeyID, "entity", c.Principal.EntityID, "named", claimed)
		return nil, mismatch(c.Principal, claimed)
	}
	return &call{Set: s, Caller: c, arguments: args}, nil
}

// finish returns the outcome of a call as clients see it.
func (t *tool) finish(res result, err error) (Result, error) {
	if err != nil {
		return Result{}, t.renameFields(err)
	}
	return Result{Texts: append([]string{res.text}, res.more...), Structured: res.structured, Delivery: res.delivery}, nil
}

func mismatch(caller shoal.Principal, claimed string) error {
	acts := fmt.Sprintf("Your key acts as %q, not as %.64q: leave the id out, or use that entity's key.", caller.EntityID, claimed)
	if caller.EntityID == "" {
		acts = fmt.Sprintf("Your key acts as no entity, so it cannot act as %.64q: use that entity's key. An admin names the actor with the header X-Shoal-Entity.", claimed)
	}
	return shoal.E("mcpapi", shoal.IdentityMismatch, acts)
}

// renameFields returns err with the hub's names of invalid fields replaced by the names of
// the tool's inputs.
func (t *tool) renameFields(err error) error {
	var known *shoal.Error
	if len(t.words) == 0 || !errors.As(err, &known) || known.Kind != shoal.InvalidArgument {
		return err
	}
	renamed := *known
	renamed.Fields = make([]shoal.FieldError, len(known.Fields))
	for i, f := range known.Fields {
		if name, ok := t.words[f.Location]; ok {
			f.Location = name
		}
		renamed.Fields[i] = f
	}
	return &renamed
}
