package aguiapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// maxIgnoredProps is how many forwarded properties are named that nothing reads.
const maxIgnoredProps = 20

// ignored is a part of the input that has no effect, and why.
type ignored struct{ what, why string }

func (i ignored) event() agui.Event {
	return agui.Event{Type: agui.Custom, Name: "ignored", Value: map[string]any{"what": i.what, "why": i.why}}
}

func (x *protocolRun) ignore(what, why string) { x.ignored = append(x.ignored, ignored{what, why}) }

// clientInput returns what runs get of an input beside its message: tools and context,
// nil if there are neither. The schemas of tools are checked.
func clientInput(in *agui.Input) (*storage.ClientInput, error) {
	tools, context := make([]storage.ClientTool, len(in.Tools)), make([]storage.ClientContext, len(in.Context))
	for i, t := range in.Tools {
		tools[i] = storage.ClientTool{Name: t.Name, Description: t.Description, Schema: t.Parameters}
	}
	for i, c := range in.Context {
		context[i] = storage.ClientContext{Description: c.Description, Value: c.Value}
	}
	return exchange.ClientInput(tools, context, func(i int) string { return fmt.Sprintf("body.tools[%d].parameters", i) })
}

// unused notes what of the input no run gets: state, properties that nothing reads, and
// tools and context other than those that the runs were started with.
func (x *protocolRun) unused(ctx context.Context) error {
	if !empty(x.in.State) {
		x.ignore("state", "Agents of a space have no state that clients share. Send what the model should know as context.")
	}
	x.unusedProps()
	if x.sent == nil || len(x.Runs) == 0 {
		return nil // without a run, nothing could use them
	}
	tools, notes := len(x.sent.Tools) == 0, len(x.sent.Context) == 0
	for id := range x.Runs {
		in, err := x.Hub.Runs.ClientInput(ctx, x.Who, x.Session, id)
		if err != nil {
			return err
		}
		if in != nil {
			tools = tools || equal(in.Tools, x.sent.Tools)
			notes = notes || equal(in.Context, x.sent.Context)
		}
	}
	const late = "The run began with others. Send them with the next message of the user."
	if !tools {
		x.ignore("tools", late)
	}
	if !notes {
		x.ignore("context", late)
	}
	return nil
}

// equal compares what was stored with what is sent, by the JSON of both.
func equal[T any](stored, sent T) bool {
	a, err := shoal.EncodeJSON(stored)
	if err != nil {
		return false
	}
	b, err := shoal.EncodeJSON(sent)
	return err == nil && bytes.Equal(a, b)
}

func (x *protocolRun) unusedProps() {
	if empty(x.in.ForwardedProps) {
		return
	}
	var props map[string]json.RawMessage
	if json.Unmarshal(x.in.ForwardedProps, &props) != nil {
		x.ignore("forwardedProps", "It is not an object.")
		return
	}
	delete(props, "mentions")
	names := slices.Sorted(maps.Keys(props))
	for _, name := range names[:min(len(names), maxIgnoredProps)] {
		x.ignore("forwardedProps."+name, "Only mentions is read.")
	}
	if more := len(names) - maxIgnoredProps; more > 0 {
		x.ignore("forwardedProps", fmt.Sprintf("Only mentions is read; %d more properties are not named here.", more))
	}
}

// empty reports whether a value is absent, null, or an object or list without content.
func empty(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return len(raw) == 0
	}
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// refusedTools names the tools of the client that runs do not use because their agents
// have tools with the same names.
func (x *protocolRun) refusedTools(ctx context.Context) error {
	if x.sent == nil {
		return nil
	}
	refused := map[string]bool{}
	for id := range x.Runs {
		in, err := x.Hub.Runs.ClientInput(ctx, x.Who, x.Session, id)
		if err != nil {
			return err
		}
		if in != nil {
			for _, name := range in.Refused {
				refused[name] = true
			}
		}
	}
	for i, t := range x.sent.Tools {
		if refused[t.Name] {
			x.view.emit(ignored{fmt.Sprintf("tools[%d]", i), fmt.Sprintf("The agent has a tool %q of its own. Give yours another name.", t.Name)}.event())
		}
	}
	return nil
}

// offer shows the calls of client tools that no message of the space shows.
func (x *protocolRun) offer(waiting []shoal.PendingAction) {
	for _, p := range waiting {
		if p.Kind == shoal.PendingClientTool && p.PartID == nil {
			x.view.finish(x.unshown(p), string(p.Args))
		}
	}
}

// unshown is a call that no message of the space shows, as a part of a message that has
// the id of the pending action.
func (x *protocolRun) unshown(p shoal.PendingAction) *part {
	head := shoal.PartHead{MessageID: shoal.MessageID(p.ID), PartID: shoal.PartID(p.ID)}
	return x.view.call(head, p.RunID, p.ToolCallID, p.ToolName)
}

// Settled gives a call that the client has and no message shows a result when others
// settled it, or nobody in time: else the client would go on waiting for its user.
func (x *protocolRun) Settled(p shoal.PendingAction) {
	if p.Kind == shoal.PendingClientTool && p.PartID == nil && x.view.had.calls[exchange.CallID(p.RunID, p.ToolCallID)] {
		x.view.answered(x.unshown(p), nil, "", shoal.PartStatus(p.Status))
	}
}
