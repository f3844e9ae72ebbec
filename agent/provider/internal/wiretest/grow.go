package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Answer is what a vendor says in one step of [PromptsGrow]: thoughts, which may
// be hidden (sealed, but without a text), then a search that it makes itself, then
// text, then calls.
type Answer struct {
	Thought, Sealed string
	Search          string // its id; the text cites what it found
	Text            string
	Calls           []agent.ToolCall
	// Paused ends the answer before the search has a result. The answer after it
	// begins with the result of Resumes. Wires that know no pauses ignore both.
	Paused  bool
	Resumes string
}

// PromptsGrow checks with random conversations of several turns and with the
// default options that each request begins with the whole prompt of the request
// before, which is what a provider's prompt cache needs. transcript writes an
// answer in the wire format; prompt returns the prompt that is in a request's body, in
// the order in which the provider reads it, without markers and settings that do not
// belong to it (see [Prompt]).
func PromptsGrow(t *testing.T, model func(*Vendor) agent.Model, transcript func(Answer) string, prompt func(body string) string) {
	t.Helper()
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := &growing{rng: rand.New(rand.NewPCG(seed, 16))}
			v := NewVendor(t, func(rw http.ResponseWriter, r *http.Request) {
				Plays(transcript(w.answer()))(rw, r)
			})
			w.play(t, model(v))
			thoughts := 0
			for i, body := range v.Bodies {
				if i == 0 {
					continue
				}
				before, now := prompt(v.Bodies[i-1]), prompt(body)
				if !strings.HasPrefix(now, before) {
					t.Fatalf("request %d has %.1f %% of the prompt before it in common:\n%s\ndoes not begin with\n%s",
						i, 100*float64(common(before, now))/float64(len(before)), now, before)
				}
				thoughts += strings.Count(now, "sealed-") - strings.Count(before, "sealed-")
			}
			last := prompt(v.Bodies[len(v.Bodies)-1])
			for _, id := range w.searches {
				if strings.Contains(transcript(Answer{Search: id}), id) && !strings.Contains(last, id) {
					t.Errorf("the last request lacks search %s", id)
				}
			}
			if len(v.Bodies) < 6 || len(w.sealed) > 0 && thoughts == 0 {
				t.Errorf("%d requests with %d of the %d sealed thoughts say little", len(v.Bodies), thoughts, len(w.sealed))
			}
		})
	}
}

// growing is one random conversation.
type growing struct {
	rng    *rand.Rand
	steps  int // left in the turn
	calls  int
	sealed []string
	// searches are those of all answers but the last, paused the one without a result.
	searches []string
	search   string
	paused   string
	stop     context.CancelCauseFunc
}

// counted is the input of the tools.
type counted struct {
	N int `json:"n"`
}

var errStopped = errors.New("a tool stopped the turn")

// play takes some turns: most end well, some fail or are canceled in the middle.
func (w *growing) play(t *testing.T, m agent.Model) {
	tool := func(name string, f func() (string, error)) agent.Tool {
		return agent.Func(name, "Does "+name+".", func(context.Context, counted) (string, error) { return f() })
	}
	a, err := agent.New(m, agent.Options{
		Instructions: "Be brief.",
		Tools: []agent.Tool{
			tool("works", func() (string, error) { return "done", nil }),
			tool("fails", func() (string, error) { return "", errors.New("broken") }),
			tool("stops", func() (string, error) { w.stop(errStopped); return "stopped", nil }),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.NewConversation()
	for turn := range 6 {
		w.steps = w.rng.IntN(4)
		var ctx context.Context
		ctx, w.stop = context.WithCancelCause(t.Context())
		r, err := a.Run(ctx, c, agent.Say(fmt.Sprintf("turn %d", turn)))
		w.stop(nil)
		if err != nil && (r == nil || r.Reason == agent.ReasonInvalidRequest || r.Reason == agent.ReasonUnavailable) {
			t.Fatalf("turn %d: %v", turn, err)
		}
	}
}

// answer returns what the model says next: calls, until the last step of a turn.
func (w *growing) answer() Answer {
	var a Answer
	if w.rng.IntN(3) > 0 {
		a.Sealed = fmt.Sprintf("sealed-%d-%d", w.calls, len(w.sealed))
		w.sealed = append(w.sealed, a.Sealed)
		if w.rng.IntN(2) > 0 {
			a.Thought = "Hm <b>ä</b> 🙂."
		}
	}
	if w.search != "" {
		w.searches = append(w.searches, w.search)
	}
	a.Resumes, w.paused, w.search = w.paused, "", ""
	if w.rng.IntN(3) == 0 {
		a.Search = fmt.Sprintf("search-%d-%d", w.calls, len(w.searches))
		a.Paused = w.steps > 0 && w.rng.IntN(2) == 0
		w.search = a.Search
	}
	if w.steps == 0 || a.Paused || w.rng.IntN(2) > 0 {
		a.Text = fmt.Sprintf("Text & %d.", w.calls)
	}
	if a.Paused {
		w.steps--
		w.paused = a.Search
		return a
	}
	if w.steps == 0 {
		return a
	}
	w.steps--
	for range 1 + w.rng.IntN(3) {
		w.calls++
		a.Calls = append(a.Calls, agent.ToolCall{
			ID:        fmt.Sprintf("call_%d", w.calls),
			Name:      []string{"works", "works", "works", "works", "fails", "unknown", "stops"}[w.rng.IntN(7)],
			Arguments: fmt.Sprintf(`{"n": %d}`, w.calls),
		})
	}
	return a
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Prompt returns the prompt in a request's body: the fixed fields in their order,
// then the elements of the history as they are written. With blocks, which is the
// field of an element that holds its content, elements of one role in a row are
// written as one, since wires that want roles in alternation join them.
func Prompt(t *testing.T, body, history, blocks string, fixed ...string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatalf("the body is not a JSON object: %v", err)
	}
	var b strings.Builder
	for _, name := range fixed {
		fmt.Fprintf(&b, "%s: %s\n", name, fields[name])
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(fields[history], &elements); err != nil {
		t.Fatalf("%s is not a list: %v", history, err)
	}
	role := ""
	for _, e := range elements {
		if blocks == "" {
			fmt.Fprintf(&b, "%s\n", e)
			continue
		}
		var turn map[string]json.RawMessage
		var content []json.RawMessage
		if json.Unmarshal(e, &turn) != nil || json.Unmarshal(turn[blocks], &content) != nil {
			t.Fatalf("%s is not a turn", e)
		}
		if role != string(turn["role"]) {
			role = string(turn["role"])
			fmt.Fprintf(&b, "%s:\n", role)
		}
		for _, block := range content {
			fmt.Fprintf(&b, "%s\n", block)
		}
	}
	return b.String()
}
