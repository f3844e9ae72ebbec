package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/harness"
)

// Bounds of what is reported, in bytes; the server's are the same or larger.
const (
	maxTitle  = 300
	maxName   = 64
	maxCallID = 128
)

// report reports a turn to the server.
type report struct {
	work *client.Work
	used func(harness.Usage)
	// approves reports whether the approval of a person counts on this machine.
	approves func(shoal.EntityID) bool
	asks     *sync.WaitGroup // goroutines that wait for a verdict; they end with the run

	mu    sync.Mutex
	calls map[string]*reported // what the server knows of each call
}

// reported is a call as the server knows it.
type reported struct {
	state shoal.ToolState
	tool  string
	args  json.RawMessage
	asked bool // it waits for a verdict
	more  int  // requests with other arguments than those of the call
}

// know returns what the server knows of a call, and whether the call is new.
func (r *report) know(id, tool string, args json.RawMessage) (c *reported, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, found := r.calls[id]
	if !found {
		c = &reported{state: shoal.ToolPending, tool: toolName(tool), args: args}
		r.calls[id] = c
	}
	return c, !found
}

func (r *report) Started(context.Context) error { return r.work.Started("") }

func (r *report) Anew(_ context.Context, messages int) error {
	return r.work.Report(shoal.WorkLine{Type: shoal.WorkSessionBegan, Known: messages})
}

func (r *report) Steered(_ context.Context, run string) error {
	return r.work.Steered(shoal.RunID(run))
}

func (r *report) Text(_ context.Context, delta string) error {
	if err := r.begin(""); err != nil {
		return err
	}
	return r.work.Text(delta)
}

func (r *report) Thought(_ context.Context, delta string) error { return r.work.Thought(delta) }

// begin reports that the pending calls are at work, but for one: the harness goes on with something
// else, so it does not ask about them any more.
func (r *report) begin(except string) error {
	r.mu.Lock()
	var all []string
	for id, c := range r.calls {
		if c.state == shoal.ToolPending && id != except && !c.asked {
			c.state = shoal.ToolRunning
			all = append(all, id)
		}
	}
	r.mu.Unlock()
	for _, id := range all {
		if err := r.work.Report(shoal.WorkLine{Type: shoal.WorkTool, CallID: id, State: shoal.ToolRunning}); err != nil {
			return err
		}
	}
	return nil
}

// Tool reports a call. One that begins is pending at first: a harness shows the call before it asks
// for its permission. What a harness says of a call that has ended is a repetition.
func (r *report) Tool(_ context.Context, t harness.Tool) error {
	l := shoal.WorkLine{Type: shoal.WorkTool, CallID: callID(t.CallID), Output: shorten(t.Output, shoal.MaxToolOutput)}
	if err := r.begin(l.CallID); err != nil {
		return err
	}
	c, first := r.know(l.CallID, t.Name, object(t.Args))
	if first {
		l.Tool, l.Title, l.Args = c.tool, shorten(oneLine(t.Title), maxTitle), c.args
	}
	r.mu.Lock()
	over := c.state == shoal.ToolDone || c.state == shoal.ToolFailed
	switch t.State {
	case harness.ToolCompleted:
		c.state = shoal.ToolDone
	case harness.ToolFailed:
		c.state = shoal.ToolFailed
	case harness.ToolRunning:
		over = over || !first
	}
	l.State = c.state
	r.mu.Unlock()
	if over {
		return nil
	}
	return r.work.Report(l)
}

func (r *report) Usage(_ context.Context, u harness.Usage) error {
	r.used(u)
	cost := 0.0
	if u.Cost != nil {
		cost = *u.Cost
	}
	return r.work.Usage("", shoal.WorkTokens{Input: int64(u.InputTokens), CachedInput: int64(u.CachedTokens), Output: int64(u.OutputTokens)}, cost)
}

// Ask asks the people in the space. A harness that gives no arguments shows its own words, and the
// request says that it knows no more.
func (r *report) Ask(_ context.Context, p harness.Permission, answer func(harness.Verdict)) error {
	id, asked := callID(p.CallID), object(p.Args)
	args := asked
	if args == nil {
		args = encode(map[string]string{"title": p.Title, "text": p.Text, "note": "The coding agent does not say with which arguments it calls the tool."})
	}
	c, _ := r.know(id, p.Name, args)
	tool := c.tool
	own := asked != nil && !harness.Covers(c.args, asked)
	if own {
		id, tool = r.another(c, id), toolName(p.Name)
	} else {
		asked = c.args // those of the call, if the harness has shown it before
	}
	r.waits(c, true)
	r.asks.Go(func() {
		defer r.waits(c, false)
		v, err := r.work.FixedPermission(id, tool, shorten(oneLine(p.Title), maxTitle), asked)
		if own && err == nil && v.Approved {
			err = r.work.Report(shoal.WorkLine{Type: shoal.WorkTool, CallID: id, State: shoal.ToolDone})
		}
		switch {
		case err != nil: // the run is over, and its turn with it
		case v.Approved && !r.approves(v.By):
			answer(harness.Verdict{Reason: "The approval does not count: it is not for this person to decide what is executed on this machine."})
		case v.Approved && v.ArgsHash != approval.ArgsHash(tool, asked):
			answer(harness.Verdict{Reason: "Not with these arguments. Call the tool again with these instead: " + string(v.Args)})
		default:
			answer(harness.Verdict{Approved: v.Approved, Reason: v.Reason})
		}
	})
	return nil
}

// another returns the id of a request that shows more than its call did, such as that a command
// reaches beyond the directory. The arguments of a call are shown once, so it is a call of its own.
func (r *report) another(c *reported, call string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.more++
	return fmt.Sprintf("%s.%d", shorten(call, maxCallID-8), c.more)
}

// Decide asks the people in the space what to do. A decision to execute something counts if the
// approval of that person does.
func (r *report) Decide(_ context.Context, id, question string) (Choice, error) {
	answer, err := r.work.Question(id, question, string(ChoiceGoOn), string(ChoiceAnew), string(ChoiceLeave))
	choice := Choice(answer.Text)
	switch {
	case err != nil:
		return "", err
	case !answer.Given || choice != ChoiceGoOn && choice != ChoiceAnew:
		return ChoiceLeave, nil
	case !r.approves(answer.By):
		return "", &Failure{CodeOutcomeUnknown, "The decision does not count: it is not for this person to decide what is executed on this machine. Check what the coding agent has done before you ask again."}
	}
	return choice, nil
}

// waits notes whether a call waits for a verdict.
func (r *report) waits(c *reported, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.asked = waits
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// object returns arguments if they are a JSON object.
func object(args json.RawMessage) json.RawMessage {
	if text := strings.TrimSpace(string(args)); strings.HasPrefix(text, "{") && json.Valid(args) {
		return json.RawMessage(text)
	}
	return nil
}

// callID makes the id of a harness one that the server takes.
func callID(id string) string {
	return shorten(strings.Map(func(c rune) rune {
		if c < '!' || c > '~' {
			return '_'
		}
		return c
	}, id), maxCallID)
}

// toolName makes the name of a tool one that the server takes.
func toolName(name string) string {
	if name == "" {
		name = "tool"
	}
	return shorten(strings.Map(func(c rune) rune {
		if c > '~' || c < ' ' || !strings.ContainsRune("_.:/ -", c) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return '_'
		}
		return c
	}, name), maxName)
}

// oneLine replaces what is not part of a line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shorten returns at most most bytes of a text, without splitting a character.
func shorten(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
