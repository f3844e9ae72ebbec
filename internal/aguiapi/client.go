package aguiapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ignored is the event that names input without effect.
func ignored(i chatapi.Ignored) agui.Event {
	return agui.Event{Type: agui.Custom, Name: "ignored", Value: map[string]any{"what": i.What, "why": i.Why}}
}

func (x *protocolRun) ignore(what, why string) {
	x.ignored = append(x.ignored, chatapi.Ignored{What: what, Why: why})
}

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
	if !chatapi.Empty(x.in.State) {
		x.ignore("state", "Agents of a space have no state that clients share. Send what the model should know as context.")
	}
	x.unusedProps()
	tools, notes, err := x.Unused(ctx, x.sent)
	if tools {
		x.ignore("tools", chatapi.LateInput)
	}
	if notes {
		x.ignore("context", chatapi.LateInput)
	}
	return err
}

func (x *protocolRun) unusedProps() {
	if chatapi.Empty(x.in.ForwardedProps) {
		return
	}
	var props map[string]json.RawMessage
	if json.Unmarshal(x.in.ForwardedProps, &props) != nil {
		x.ignore("forwardedProps", "It is not an object.")
		return
	}
	delete(props, "mentions")
	x.ignored = append(x.ignored, chatapi.IgnoredProps("forwardedProps", props, "Only mentions is read.")...)
}

// refusedTools names the tools of the client that runs do not use because their agents
// have tools with the same names.
func (x *protocolRun) refusedTools(ctx context.Context) error {
	refused, err := x.RefusedTools(ctx, x.sent)
	for _, i := range refused {
		x.view.emit(ignored(chatapi.Ignored{What: fmt.Sprintf("tools[%d]", i), Why: chatapi.OwnTool(x.sent.Tools[i].Name)}))
	}
	return err
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
