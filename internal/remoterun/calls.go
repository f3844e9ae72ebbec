package remoterun

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// applyCall applies a line about a tool call.
func (m *machine) applyCall(l shoal.WorkLine, at shoal.Time) ([]compose.Effect, error) {
	k := m.calls[l.CallID] // a new one was announced
	if err := sameCall(k, l); err != nil {
		return nil, err
	}
	switch l.Type {
	case shoal.WorkTool:
		return m.setState(k, l, at)
	case shoal.WorkCard:
		if l.Wait {
			return m.ask(k, agent.ClientCall, l, at), nil
		}
		if k.State != shoal.ToolPending {
			return nil, nil
		}
		out := m.begin(k, at)
		return append(out, m.endCall(k, agent.ResultOK, "null", at)...), nil
	case shoal.WorkPermission:
		if k.State == shoal.ToolRunning && !k.asked && k.Answer == nil {
			return nil, lineError(l.N, "asks for the permission of the call %s, which is at work already: report it as pending until it is permitted", l.CallID)
		}
		k.fixed = l.Fixed
		return m.ask(k, agent.Permission, l, at), nil
	default:
		return m.ask(k, agent.Clarification, l, at), nil
	}
}

// sameCall refuses a line whose call is known as another one.
func sameCall(k *call, l shoal.WorkLine) error {
	if l.Tool != "" && l.Tool != k.Tool || l.Type != k.Type && (l.Type == shoal.WorkCard || l.Type == shoal.WorkQuestion || k.Type == shoal.WorkCard || k.Type == shoal.WorkQuestion) {
		return lineError(l.N, "uses the callId %s, which is that of another call (%s %s)", l.CallID, k.Type, k.Tool)
	}
	if len(l.Args) > 0 && string(l.Args) != "null" && !sameJSON(l.Args, k.Args) {
		return lineError(l.N, "has other args than the call %s had before", l.CallID)
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// decode decodes a value. Numbers keep their digits.
func decode(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v)
}

// startCall shows a new call. In a run without a space it is shown nowhere, unless the line
// names a space.
func (m *machine) startCall(l shoal.WorkLine) ([]compose.Effect, error) {
	if len(m.order) == shoal.MaxWorkCalls {
		return nil, lineError(l.N, "begins more than %d tool calls of one run", shoal.MaxWorkCalls)
	}
	k := &call{kind: l.Kind, space: l.SpaceID, turn: len(m.turns) - 1}
	k.RemoteCall = shoal.RemoteCall{CallID: l.CallID, Type: l.Type, Tool: l.Tool, Title: l.Title, Args: l.Args, State: shoal.ToolPending}
	if len(k.Args) == 0 || string(k.Args) == "null" {
		k.Args = json.RawMessage("{}")
	}
	if l.Type == shoal.WorkQuestion {
		k.Tool, k.Title = questionTool, l.Text
	}
	if k.Tool == "" {
		return nil, lineError(l.N, "must name its tool: the call %s is new", l.CallID)
	}
	if k.space == "" {
		k.space = m.trigger
	}
	m.calls[k.CallID], m.order = k, append(m.order, k)
	m.turn().calls = append(m.turn().calls, k)
	out := m.endText(agent.ResultOK)
	if l.Type == shoal.WorkQuestion {
		return out, nil // its request has a part of its own
	}
	m.composer.AddTool(m.toolOf(k))
	out = append(out, m.composer.Apply(agent.ToolCallStarted{MessageID: m.source(), CallID: k.CallID, Name: k.Tool})...)
	return append(out, m.composer.Apply(agent.ToolCallEnded{Call: agent.ToolCall{ID: k.CallID, Name: k.Tool, Arguments: routed(k, l.Mention)}})...), nil
}

// toolOf describes how a call is shown: a card as the configuration says, a tool of the
// program collapsed, with its title.
func (m *machine) toolOf(k *call) compose.Tool {
	if i := slices.IndexFunc(m.tools, func(t compose.Tool) bool { return t.Name == k.Tool }); i >= 0 {
		return m.tools[i]
	}
	shown := struct {
		Mode     string `json:"mode"`
		CustomUI string `json:"customUI,omitempty"`
		Title    string `json:"title,omitempty"`
		Kind     string `json:"kind,omitempty"`
	}{"minimal", "remote.tool", k.Title, k.kind}
	if k.Type == shoal.WorkCard {
		shown.Mode, shown.CustomUI = "full", ""
	}
	rendering, err := json.Marshal(shown)
	if err != nil { // strings can always be encoded
		return compose.Tool{Name: k.Tool, Display: true}
	}
	return compose.Tool{Name: k.Tool, Display: true, Rendering: rendering}
}

// routed returns the arguments of a call with the fields that say where it is shown. The last
// of several equal fields counts, so they come after the program's own.
func routed(k *call, mention shoal.EntityID) string {
	if k.space == "" {
		return string(k.Args)
	}
	out := string(bytes.TrimSpace(k.Args))
	out = out[:len(out)-1]
	if len(bytes.TrimSpace([]byte(out))) > 1 {
		out += ","
	}
	out += `"` + compose.FieldTargetSpace + `":"` + string(k.space) + `"`
	if mention != "" {
		return out + `,"` + compose.FieldMention + `":"` + string(mention) + `"}`
	}
	return out + `,"` + compose.FieldMention + `":null}`
}

// results are the results of the composer for the last states of a call.
var results = map[shoal.ToolState]agent.ResultStatus{
	shoal.ToolDone: agent.ResultOK, shoal.ToolFailed: agent.ResultFailed, shoal.ToolCanceled: agent.ResultCanceled,
}

// setState changes the state of a call. A call that was denied stays so, whatever its program
// reports; one that has ended does not change.
func (m *machine) setState(k *call, l shoal.WorkLine, at shoal.Time) ([]compose.Effect, error) {
	switch {
	case k.State == shoal.ToolDenied, l.State == k.State, l.State == "", l.State == shoal.ToolPending:
		return nil, nil
	case k.State != shoal.ToolPending && k.State != shoal.ToolRunning:
		return nil, lineError(l.N, "changes the call %s, which is %s", k.CallID, k.State)
	case k.asked && (l.State == shoal.ToolRunning || l.State == shoal.ToolDone):
		return nil, lineError(l.N, "executes the call %s, whose permission nobody has given yet", k.CallID)
	case l.State == shoal.ToolRunning:
		return m.begin(k, at), nil
	}
	out := m.begin(k, at)
	return append(out, m.endCall(k, results[l.State], l.Output, at)...), nil
}

// begin marks a call as running.
func (m *machine) begin(k *call, at shoal.Time) []compose.Effect {
	if k.State != shoal.ToolPending {
		return nil
	}
	k.State, k.started = shoal.ToolRunning, &at
	return m.composer.Apply(agent.ToolStarted{Call: agent.ToolCall{ID: k.CallID, Name: k.Tool}})
}

// states are the states of calls by their results.
var states = map[agent.ResultStatus]shoal.ToolState{
	agent.ResultOK: shoal.ToolDone, agent.ResultFailed: shoal.ToolFailed, agent.ResultCanceled: shoal.ToolCanceled, agent.ResultDenied: shoal.ToolDenied,
}

// endCall ends a call with a result.
func (m *machine) endCall(k *call, as agent.ResultStatus, output string, at shoal.Time) []compose.Effect {
	k.State, k.Output, k.ended, k.asked = states[as], output, &at, false
	return m.composer.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: k.CallID, Name: k.Tool, Status: as, Text: output}})
}

// request returns a request of a run as the composer knows it.
func (m *machine) request(k *call, kind agent.PendingKind, at shoal.Time) agent.Pending {
	p := agent.Pending{ID: string(kind) + "/" + k.CallID, Kind: kind, Call: agent.ToolCall{ID: k.CallID, Name: k.Tool, Arguments: routed(k, "")}, RequestedAt: at.Time}
	if kind == agent.Clarification {
		p.Question, p.Call.Arguments = k.Title, string(k.Args)
	}
	return p
}

// ask opens a request about a call, unless it has one already.
func (m *machine) ask(k *call, kind agent.PendingKind, l shoal.WorkLine, at shoal.Time) []compose.Effect {
	if k.asked || k.Answer != nil || k.State != shoal.ToolPending {
		return nil // it is asked again after a crash
	}
	k.asked = true
	p := m.request(k, kind, at)
	p.Options = l.Options
	return m.composer.Apply(agent.RequestOpened{Pending: p})
}

// requestKinds are the kinds of requests by the lines that ask them.
var requestKinds = map[shoal.WorkType]agent.PendingKind{
	shoal.WorkPermission: agent.Permission, shoal.WorkTool: agent.Permission, shoal.WorkQuestion: agent.Clarification, shoal.WorkCard: agent.ClientCall,
}

// applyAnswer applies the answer of a person, or the expiry of a request.
func (m *machine) applyAnswer(in answered, at shoal.Time) []compose.Effect {
	k := m.calls[in.CallID]
	if k == nil || !k.asked {
		return nil
	}
	order := in.Order
	k.asked, k.Answer = false, &order
	yes := order.Approved != nil && *order.Approved
	p := m.request(k, requestKinds[in.Kind], at)
	p.Answer = &agent.Answer{PendingID: p.ID, Approved: yes, Reason: order.Reason, By: string(order.By), Text: order.Text}
	if len(order.EditedArgs) > 0 {
		edited := *k
		edited.Args = order.EditedArgs
		p.Answer.Arguments = routed(&edited, "")
	}
	if order.Error != "" {
		p.Answer.Text, p.Answer.Failed = order.Error, true
	}
	out := m.composer.Apply(agent.RequestAnswered{Pending: p})
	switch {
	case p.Kind == agent.Permission && yes:
		return out
	case p.Kind == agent.Permission:
		return append(out, m.endCall(k, agent.ResultDenied, order.Reason, at)...)
	case order.Error != "":
		return append(out, m.endCall(k, agent.ResultFailed, order.Error, at)...)
	case p.Kind == agent.ClientCall:
		return append(out, m.endCall(k, agent.ResultOK, string(order.Result), at)...)
	}
	k.State, k.ended = shoal.ToolDone, &at
	return out
}
