package runner

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
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
	calls map[string]shoal.ToolState // what the server knows of each call; denied ones among them
	asked map[string]bool            // the calls that wait for a verdict
}

// know notes the state of a call. It reports whether the call is new, and false for ok if it has
// ended before: then the harness only repeats itself, or says that it has not executed what was
// denied.
func (r *report) know(id string, state shoal.ToolState) (first, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.calls[id]
	switch known {
	case shoal.ToolDone, shoal.ToolFailed, shoal.ToolDenied:
		return false, false
	case shoal.ToolRunning:
		if state == shoal.ToolPending {
			return false, true
		}
	}
	r.calls[id] = state
	return !found, true
}

// Started reports nothing: the client has begun the turn with the claim.
func (r *report) Started(context.Context) error { return nil }

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
	for id, state := range r.calls {
		if state == shoal.ToolPending && id != except && !r.asked[id] {
			r.calls[id] = shoal.ToolRunning
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
// for its permission.
func (r *report) Tool(_ context.Context, t harness.Tool) error {
	if err := r.begin(callID(t.CallID)); err != nil {
		return err
	}
	states := map[harness.ToolState]shoal.ToolState{
		harness.ToolRunning: shoal.ToolPending, harness.ToolCompleted: shoal.ToolDone, harness.ToolFailed: shoal.ToolFailed,
	}
	l := shoal.WorkLine{
		Type: shoal.WorkTool, CallID: callID(t.CallID), State: states[t.State], Output: shorten(t.Output, shoal.MaxToolOutput),
	}
	first, ok := r.know(l.CallID, l.State)
	if !ok || !first && l.State == shoal.ToolPending {
		return nil
	}
	if first {
		l.Tool, l.Title, l.Args = toolName(t.Name), shorten(oneLine(t.Title), maxTitle), object(t.Args)
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
	first, _ := r.know(id, shoal.ToolPending)
	r.waits(id, true)
	if asked == nil && first {
		asked = encode(map[string]string{"title": p.Title, "text": p.Text, "note": "The coding agent does not say with which arguments it calls the tool."})
	}
	r.asks.Go(func() {
		defer r.waits(id, false)
		v, err := r.work.Permission(id, toolName(p.Name), shorten(oneLine(p.Title), maxTitle), asked)
		switch {
		case err != nil: // the run is over, and its turn with it
			return
		case v.Approved && !r.approves(v.By):
			answer(harness.Verdict{Reason: "The approval does not count: it is not for this person to decide what is executed on this machine."})
		case v.Approved && !sameJSON(v.Args, asked):
			answer(harness.Verdict{Reason: "Not with these arguments. Call the tool again with these instead: " + string(v.Args)})
		case !v.Approved:
			r.know(id, shoal.ToolDenied)
			fallthrough
		default:
			answer(harness.Verdict{Approved: v.Approved, Reason: v.Reason})
		}
	})
	return nil
}

// waits notes whether a call waits for a verdict.
func (r *report) waits(id string, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits {
		r.asked[id] = true
	} else {
		delete(r.asked, id)
	}
}

// sameJSON reports whether two values are equal. One that is missing equals every other: nobody has
// changed it.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return len(a) == 0 || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
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
