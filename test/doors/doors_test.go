package doors_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// args is a JSON object.
type args = map[string]any

// customer is ann at a client in the space shop.
type customer interface {
	// ask posts a text that mentions the agent.
	ask(text string)
	// choose answers the cards that wait, in the order in which they are shown.
	choose(results ...args)
	// texts returns what the agent has written, as the client has it when the agent has finished: its texts, with an
	// empty line between two.
	texts() string
}

// approver is bob at a client in the space finance.
type approver interface {
	// approve answers the form that waits.
	approve(result args)
}

// native is a person at the Go client, which speaks REST and reads server-sent events.
type native struct {
	p     *place
	s     *client.Session
	space shoal.SpaceID
}

func (p *place) native(who shoal.EntityID, space shoal.SpaceID) *native {
	p.t.Helper()
	c, err := client.New(client.Options{URL: p.URL(), Key: p.keys[who]})
	if err != nil {
		p.t.Fatal(err)
	}
	return &native{p, c.Session(p.session), space}
}

func (n *native) ask(text string) {
	n.p.t.Helper()
	d := shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{seller}}
	if _, err := n.s.Post(n.p.t.Context(), n.space, d); err != nil {
		n.p.t.Fatal(err)
	}
}

func (n *native) choose(results ...args) {
	n.p.t.Helper()
	var waiting []shoal.PendingAction
	for a, err := range n.s.PendingActions(n.p.t.Context(), client.PendingOptions{Space: n.space}) {
		if err != nil {
			n.p.t.Fatal(err)
		}
		waiting = append(waiting, a)
	}
	if len(waiting) != len(results) {
		n.p.t.Fatalf("%+v waits", waiting)
	}
	for i, a := range waiting {
		text, err := json.Marshal(results[i])
		if err == nil {
			_, err = n.s.AnswerPending(n.p.t.Context(), a.ID, shoal.PendingAnswer{Result: text})
		}
		if err != nil {
			n.p.t.Fatal(err)
		}
	}
}

func (n *native) approve(result args) { n.choose(result) }

func (n *native) texts() string {
	n.p.t.Helper()
	for e, err := range n.s.Follow(n.p.t.Context(), client.FollowOptions{Space: n.space}) {
		var snapshot shoal.SnapshotData
		var one shoal.MessageData
		if err = errors.Join(err, json.Unmarshal(e.Data, &snapshot), json.Unmarshal(e.Data, &one)); err != nil {
			n.p.t.Fatal(err)
		}
		for _, m := range append(snapshot.Messages, one.Message) {
			if m.EntityID == seller && m.Status != shoal.MessageStreaming {
				return m.Text()
			}
		}
	}
	return ""
}

// lines is a person at a client in another language, which person.ts and person.py play.
type lines struct{ *program.Lines }

func (p *place) lines(who shoal.EntityID, space shoal.SpaceID, command ...string) lines {
	p.t.Helper()
	command = append(command, p.URL(), p.keys[who], string(p.session), string(space))
	return lines{program.StartLines(p.t, command[0], command[1:]...)}
}

// order returns what the program says about an order.
func (l lines) order(o args) (said struct {
	Asked           string
	Answered, Texts []string
},
) {
	l.Send(o)
	l.Next(patience, &said)
	return said
}

func (l lines) ask(text string)        { l.order(args{"ask": text}) }
func (l lines) choose(results ...args) { l.order(args{"answers": results}) }
func (l lines) approve(result args)    { l.choose(result) }
func (l lines) texts() string          { return strings.Join(l.order(args{}).Texts, "\n\n") }

// mcp is a person at the official MCP SDK.
type mcp struct {
	p *place
	*program.Lines
	space shoal.SpaceID
	calls int
}

func (p *place) mcp(who shoal.EntityID, space shoal.SpaceID) *mcp {
	p.t.Helper()
	m := &mcp{p: p, space: space}
	m.Lines = program.StartLines(p.t, program.Node(p.t), "../mcp-ts/agent.mjs", "--name", string(who), "--sdk", "2", "--transport", "http", "--url", p.URL()+"/mcp", "--key", p.keys[who])
	var said struct{ Connected json.RawMessage }
	if m.Next(patience, &said); said.Connected == nil {
		p.t.Fatalf("%s is not connected", who)
	}
	return m
}

// call calls a tool, and decodes its result into out.
func (m *mcp) call(tool string, arguments args, out any) {
	m.p.t.Helper()
	m.calls++
	m.Send(args{"id": m.calls, "tool": tool, "arguments": arguments})
	for {
		var said struct {
			ID     int
			Error  json.RawMessage
			Result struct {
				IsError           bool
				Content           json.RawMessage
				StructuredContent json.RawMessage
			}
		}
		switch m.Next(patience, &said); {
		case said.ID != m.calls: // a notification
			continue
		case said.Error != nil || said.Result.IsError:
			m.p.t.Fatalf("%s: %s%s", tool, said.Error, said.Result.Content)
		}
		if err := json.Unmarshal(said.Result.StructuredContent, out); err != nil {
			m.p.t.Fatal(err)
		}
		return
	}
}

func (m *mcp) ask(text string) {
	m.p.t.Helper()
	m.call("send_message", args{"threadId": m.space, "content": text, "mentions": []string{seller}}, &shoal.Message{})
}

func (m *mcp) choose(results ...args) {
	m.p.t.Helper()
	var waiting struct{ Items []shoal.PendingAction }
	m.call("list_pending_actions", args{}, &waiting)
	if len(waiting.Items) != len(results) {
		m.p.t.Fatalf("%+v waits", waiting)
	}
	for i, a := range waiting.Items {
		m.call("answer_pending_action", args{"id": a.ID, "result": results[i]}, &shoal.PendingAction{})
	}
}

func (m *mcp) approve(result args) { m.choose(result) }

func (m *mcp) texts() string {
	m.p.t.Helper()
	var got struct {
		Items []struct{ Messages []shoal.Message }
	}
	m.call("wait_for_messages", args{"threadId": m.space, "timeoutMs": patience.Milliseconds()}, &got)
	if len(got.Items) != 1 || len(got.Items[0].Messages) != 1 {
		m.p.t.Fatalf("the wait returns %+v", got)
	}
	return got.Items[0].Messages[0].Text()
}

// agui is a person at the official AG-UI client.
type agui struct {
	p *place
	*program.Lines
	last struct {
		Messages []struct {
			Role, Content string
			ToolCalls     []struct {
				ID       string
				Function struct{ Name string }
			}
		}
		Outcome, Error string
		Pending        []string
	}
}

func (p *place) agui(who shoal.EntityID, space shoal.SpaceID) *agui {
	p.t.Helper()
	headers, err := json.Marshal(args{"Authorization": "Bearer " + p.keys[who]})
	if err != nil {
		p.t.Fatal(err)
	}
	return &agui{p: p, Lines: program.StartLines(p.t, "node", "../agui/client.mjs", p.URL()+"/agui/"+string(p.session)+"/"+string(space), string(headers))}
}

// next returns when the run of the protocol has ended.
func (a *agui) next() {
	a.p.t.Helper()
	if a.Next(patience, &a.last); a.last.Outcome != "success" || a.last.Error != "" {
		a.p.t.Fatalf("the run has ended as %+v", a.last)
	}
}

func (a *agui) ask(text string) {
	a.p.t.Helper()
	a.Send(args{"add": []args{{"id": "u1", "role": "user", "content": text}}, "run": args{"forwardedProps": args{"mentions": []string{seller}}}})
	a.next()
}

func (a *agui) choose(results ...args) {
	a.p.t.Helper()
	if len(a.last.Pending) != len(results) {
		a.p.t.Fatalf("pending is %q", a.last.Pending)
	}
	var add []args
	for i, call := range a.last.Pending {
		text, err := json.Marshal(results[i])
		if err != nil {
			a.p.t.Fatal(err)
		}
		add = append(add, args{"id": "r-" + call, "role": "tool", "toolCallId": call, "content": string(text)})
	}
	a.Send(args{"add": add})
}

func (a *agui) texts() string {
	a.p.t.Helper()
	a.next()
	var texts []string
	for _, m := range a.last.Messages {
		if m.Role == "assistant" && m.Content != "" {
			texts = append(texts, m.Content)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (a *agui) approve(result args) {
	a.p.t.Helper()
	a.Send(args{"connect": true})
	a.next()
	a.choose(result)
	a.next()
}

// aisdk is a person at the official client of the AI SDK.
type aisdk struct {
	p *place
	*program.Lines
	last struct {
		Messages []struct {
			Role  string
			Parts []struct{ Type, Text, State, ToolCallID string }
		}
		Status, Error string
	}
}

func (p *place) aisdk(who shoal.EntityID, space shoal.SpaceID) *aisdk {
	p.t.Helper()
	a := &aisdk{p: p, Lines: program.StartLines(p.t, program.Node(p.t), "../aisdk/client.mjs")}
	a.order(args{"as": args{"api": p.URL() + "/ai-sdk/" + string(p.session) + "/" + string(space), "key": p.keys[who], "body": args{"mentions": []string{seller}}}})
	return a
}

func (a *aisdk) order(o args) {
	a.p.t.Helper()
	a.Send(o)
	a.next()
}

func (a *aisdk) next() {
	a.p.t.Helper()
	if a.Next(patience, &a.last); a.last.Error != "" {
		a.p.t.Fatalf("the client shows %+v", a.last)
	}
}

func (a *aisdk) ask(text string) {
	a.p.t.Helper()
	a.order(args{"send": args{"text": text}})
}

func (a *aisdk) choose(results ...args) {
	a.p.t.Helper()
	var outputs []args
	for _, m := range a.last.Messages {
		for _, part := range m.Parts {
			if tool, ok := strings.CutPrefix(part.Type, "tool-"); ok && part.State == "input-available" && len(outputs) < len(results) {
				outputs = append(outputs, args{"tool": tool, "toolCallId": part.ToolCallID, "output": results[len(outputs)]})
			}
		}
	}
	if len(outputs) != len(results) {
		a.p.t.Fatalf("%+v waits", outputs)
	}
	a.Send(args{"outputs": outputs})
}

func (a *aisdk) texts() string {
	a.p.t.Helper()
	a.next()
	var texts []string
	for _, part := range a.last.Messages[len(a.last.Messages)-1].Parts {
		if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (a *aisdk) approve(result args) {
	a.p.t.Helper()
	a.order(args{"history": true})
	a.choose(result)
	a.next()
}

// openAI is a person at the official OpenAI client. It has no form for the cards of an agent: the person answers them
// elsewhere, while the answer is streamed.
type openAI struct {
	p *place
	*program.Lines
	*native
	responses bool
}

func (p *place) openAI(who shoal.EntityID, space shoal.SpaceID, responses bool) *openAI {
	p.t.Helper()
	headers, err := json.Marshal(args{"X-Shoal-Space": space})
	if err != nil {
		p.t.Fatal(err)
	}
	return &openAI{p: p, native: p.native(who, space), responses: responses, Lines: program.StartLines(p.t, program.Node(p.t), "../openai/client.mjs", p.URL()+"/openai/v1", p.keys[who], string(headers))}
}

func (o *openAI) ask(text string) {
	if o.responses {
		o.Send(args{"respond": args{"model": seller, "stream": true, "input": text}})
	} else {
		o.Send(args{"chat": args{"model": seller, "stream": true, "messages": []args{{"role": "user", "content": text}}}})
	}
}

func (o *openAI) texts() string {
	o.p.t.Helper()
	var got struct {
		Text, Finish string
		Texts        []string
		Error        struct{ Message string }
	}
	if o.Next(patience, &got); got.Error.Message != "" || !slices.Contains([]string{"stop", "completed"}, got.Finish) {
		o.p.t.Fatalf("the client has %+v", got)
	}
	if o.responses {
		return strings.Join(got.Texts, "\n\n")
	}
	return got.Text
}
