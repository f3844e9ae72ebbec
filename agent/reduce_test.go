package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// summariser is a model that gives preset answers and records its requests.
type summariser struct {
	window int
	text   string
	err    error
	asked  []string
}

func (m *summariser) Info() ModelInfo { return ModelInfo{Provider: "script", Window: m.window} }

func (m *summariser) Stream(_ context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		m.asked = append(m.asked, req.Messages[0].Text())
		if m.err != nil {
			yield(Chunk{}, m.err)
			return
		}
		_ = yield(Chunk{Kind: ChunkText, Text: m.text}, nil) &&
			yield(Chunk{Kind: ChunkUsage, Usage: &Usage{InputTokens: 10, OutputTokens: 2}}, nil) &&
			yield(Chunk{Kind: ChunkFinish, Reason: FinishStop}, nil)
	}
}

// tale makes a history: s, u and a are messages, A is an assistant with a call
// and t its result; every message is named by its letter and place.
func tale(letters string) []Message {
	var out []Message
	for i, letter := range letters {
		id := fmt.Sprintf("%c%d", letter, i)
		m := Message{ID: id, Role: map[rune]Role{'s': System, 'u': User, 'a': Assistant, 'A': Assistant, 't': ToolRole}[letter]}
		switch letter {
		case 'A':
			m.Parts = []Part{{Type: CallPart, Call: &ToolCall{ID: "c" + id[1:], Name: "x", Arguments: "{}"}}}
		case 't':
			m.Parts = []Part{{Type: ResultPart, Result: &ToolResult{CallID: fmt.Sprintf("c%d", i-1), Name: "x", Status: ResultOK, Text: id}}}
		default:
			m.Parts = []Part{Text(id)}
		}
		out = append(out, m)
	}
	return out
}

// viewText lists the messages of a view.
func viewText(view []Message) string {
	var out []string
	for _, m := range view {
		if m.Summary {
			out = append(out, "["+summaryText(&m)+"]")
		} else {
			out = append(out, m.ID)
		}
	}
	return strings.Join(out, " ")
}

func TestReduceByCount(t *testing.T) {
	for _, c := range []struct{ name, history, want string }{
		{"up to target and threshold all is seen", "suauaua", "s0 u1 a2 u3 a4 u5 a6"},
		{"over them the last Target messages", "suauauau", "s0 u5 a6 u7"},
		{"system messages stay, and their order", "usauasuauau", "s1 s5 u8 a9 u10"},
		{"a call stays with its result", "uauauAt", "u4 A5 t6"},
		{"a turn's input stays when the cut goes through the turn", "uauAtAtAtAt", "u2 A7 t8 A9 t10"},
		{"all messages of the input stay", "uauuAtAtAtAt", "u2 u3 A8 t9 A10 t11"},
		{"input that nobody answered is a chat", "uuuuuuuuuuuuuuuu", "u8 u9 u10 u11 u12 u13 u14 u15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReducer(Reduction{Strategy: ReduceCount, Target: 3, Threshold: 3}, &summariser{}, nil)
			view, did, err := r.view(t.Context(), tale(c.history), false)
			if got := viewText(view); got != c.want || err != nil {
				t.Errorf("the model sees %s (%v), want %s", got, err, c.want)
			}
			if shorter := len(view) < len(c.history); shorter != (did != nil) || shorter && did.After != len(view) {
				t.Errorf("reported as %+v", did)
			}
		})
	}
}

func TestSummaryCoversRemovedMessagesAndIsReused(t *testing.T) {
	m := &summariser{text: " first "}
	r := newReducer(Reduction{Strategy: ReduceSummary, Target: 2, Threshold: 2}, m, nil)
	history := tale("suauauauauau")
	steps := []struct {
		n     int
		want  string
		asked int
	}{
		{5, "s0 u1 a2 u3 a4", 0},
		{6, "s0 [first] u3 a4 u5", 1}, // u3 is covered, but its turn goes on after the cut
		{8, "s0 [first] u3 a4 u5 a6 u7", 1},
		{9, "s0 [second] u7 a8", 2},
	}
	for _, s := range steps {
		if s.n == 9 {
			m.text = "second"
		}
		view, _, err := r.view(t.Context(), history[:s.n], false)
		if got := viewText(view); got != s.want || err != nil || len(m.asked) != s.asked {
			t.Fatalf("of %d messages the model sees %s after %d summaries (%v), want %s after %d", s.n, got, len(m.asked), err, s.want, s.asked)
		}
	}
	if got := r.summary(); got == nil || *got != (Summary{Text: "second", Covers: 6}) {
		t.Fatalf("to be stored is %+v", got)
	}
	if first := m.asked[0]; first != "user: u1\nassistant: a2\nuser: u3\n" {
		t.Errorf("the first summary was asked of %q", first)
	}
	if second := m.asked[1]; second != "The summary so far:\nfirst\n\nWhat was said since:\nassistant: a4\nuser: u5\nassistant: a6\n" {
		t.Errorf("the second summary was asked of %q", second)
	}

	// The next turn begins with what was stored.
	next := newReducer(r.opts, m, r.summary())
	view, did, err := next.view(t.Context(), history[:10], false)
	if got := viewText(view); got != "s0 [second] u7 a8 u9" || err != nil || did == nil || !did.Cached || len(m.asked) != 2 {
		t.Errorf("the next turn sees %s, reported as %+v (%v), after %d summaries", got, did, err, len(m.asked))
	}
	if _, did, _ = next.view(t.Context(), history[:10], false); did != nil || next.summary() != nil {
		t.Errorf("the second view is reported as %+v, to be stored is %+v", did, next.summary())
	}
}

func TestHistoryContinuesFromSummaryAfterHardReduction(t *testing.T) {
	m := &summariser{text: "newer"}
	history := append([]Message{tale("s")[0], summaryMessage("old")}, tale("uauaua")...)
	r := newReducer(Reduction{Strategy: ReduceSummary, Target: 2, Threshold: 4}, m, nil)
	view, did, _ := r.view(t.Context(), history, false)
	if got := viewText(view); got != "s0 [old] u0 a1 u2 a3 u4 a5" || did != nil {
		t.Errorf("the model sees %s (%+v); the summary must not be counted as a message", got, did)
	}
	view, _, _ = r.view(t.Context(), append(history, tale("uau")...), false)
	if got := viewText(view); got != "s0 [newer] a1 u2" && got != "s0 [newer] u0 a1 u2" {
		t.Errorf("the model sees %s", got)
	}
	if !strings.HasPrefix(m.asked[0], "The summary so far:\nold\n\n") || strings.Count(m.asked[0], "old") != 1 {
		t.Errorf("the summary was asked of %q", m.asked[0])
	}
}

func TestTurnContinuesWithoutSummary(t *testing.T) {
	broken := errors.New("no")
	for name, m := range map[string]*summariser{"it fails": {err: broken}, "it is empty": {text: " \n"}} {
		t.Run(name, func(t *testing.T) {
			r := newReducer(Reduction{Strategy: ReduceSummary, Target: 2, Threshold: 2}, m, &Summary{Text: "old", Covers: 2})
			history := tale("uauauauauau")
			view, did, err := r.view(t.Context(), history[:8], false)
			if got := viewText(view); got != "[old] u6 a7" || err == nil || did == nil || did.Strategy != ReduceCount {
				t.Fatalf("the model sees %s, reported as %+v (%v)", got, did, err)
			}
			if r.summary() != nil {
				t.Errorf("to be stored is %+v", r.summary())
			}
			if view, _, err = r.view(t.Context(), history[:9], false); viewText(view) != "[old] u6 a7 u8" || err != nil || len(m.asked) != 1 {
				t.Errorf("then it sees %s (%v) after asking %d times", viewText(view), err, len(m.asked))
			}
			m.err, m.text = nil, "new"
			if view, _, _ = r.view(t.Context(), history, false); viewText(view) != "[new] u8 a9 u10" {
				t.Errorf("with a summary it sees %s", viewText(view))
			}
			if got := r.summary(); got == nil || *got != (Summary{Text: "new", Covers: 9}) {
				t.Errorf("to be stored is %+v", got)
			}
			if asked := m.asked[1]; !strings.Contains(asked, "user: u2\n") {
				t.Errorf("what no summary covered was lost: %q", asked)
			}
		})
	}
}

func TestTokenThresholdReducesBeforeCount(t *testing.T) {
	history := tale("uauauauaua")
	for i := range history {
		history[i].Parts = []Part{Text(strings.Repeat("x", 4*96))} // 100 tokens with the message's own
	}
	for _, c := range []struct {
		name     string
		opts     Reduction
		window   int
		observed int64
		want     int
	}{
		{"under the limit nothing happens", Reduction{MaxTokens: 1000}, 0, 0, 10},
		{"over it a third is made free", Reduction{MaxTokens: 900}, 0, 0, 6},
		{"a share of the window", Reduction{Share: 0.5}, 1200, 0, 4},
		{"whichever comes first", Reduction{MaxTokens: 900, Share: 0.5}, 1200, 0, 4},
		{"a share of an unknown window does not limit", Reduction{Share: 0.5}, 0, 0, 10},
		{"what the provider counted besides the messages counts", Reduction{MaxTokens: 1200}, 0, 1400, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Strategy = ReduceCount
			r := newReducer(c.opts, &summariser{window: c.window}, nil)
			if c.observed > 0 {
				r.observed(Usage{InputTokens: c.observed}, history)
			}
			if view, _, _ := r.view(t.Context(), history, false); len(view) != c.want {
				t.Errorf("the model sees %s, want %d messages", viewText(view), c.want)
			}
		})
	}
}

func TestTheEstimateLearns(t *testing.T) {
	var e estimator
	long := tale("uauauaua")
	short := long[:2]
	e.observed(Usage{InputTokens: int64(500 + 3*plainTokens(short))}, short)
	e.observed(Usage{InputTokens: int64(500 + 3*plainTokens(long))}, long)
	if got, want := e.estimate(long[:4]), 500+3*plainTokens(long[:4]); got != want {
		t.Errorf("the guess is %d, want %d", got, want)
	}
	e.observed(Usage{}, long) // a provider that does not count
	if got, want := e.estimate(long), 500+3*plainTokens(long); got != want {
		t.Errorf("then the guess is %d, want %d", got, want)
	}
}

func TestForcedReductionHalvesTheHistory(t *testing.T) {
	for _, strategy := range []ReductionStrategy{"", ReduceNone, ReduceCount, ReduceSummary} {
		t.Run(string(strategy), func(t *testing.T) {
			r := newReducer(Reduction{Strategy: strategy}, &summariser{text: "so far"}, nil)
			history := tale("suauauAtAtAtAt")
			for i := range history {
				history[i].Parts = append(history[i].Parts, Part{Type: ReasoningPart, Text: strings.Repeat("x", 400)})
			}
			before, _, _ := r.view(t.Context(), history, false)
			for {
				view, did, err := r.view(t.Context(), history, true)
				if err != nil {
					t.Fatal(err)
				}
				if did == nil {
					if viewText(view) != viewText(before) {
						t.Errorf("nothing was done, but the view went from %s to %s", viewText(before), viewText(view))
					}
					break
				}
				if least := len(view) <= 5; !did.Forced || !least && plainTokens(view) > plainTokens(before)/2 {
					t.Errorf("%s became %s, reported as %+v", viewText(before), viewText(view), did)
				}
				before = view
			}
			want := "s0 u5 A12 t13"
			if strategy == ReduceSummary {
				want = "s0 [so far] u5 A12 t13"
			}
			if viewText(before) != want {
				t.Errorf("at last the model sees %s, want %s", viewText(before), want)
			}
			if s := r.summary(); s == nil || s.Covers != 11 {
				t.Errorf("to be stored is %+v", s)
			}
		})
	}
}

func TestNoReductionKeepsAllMessages(t *testing.T) {
	r := newReducer(Reduction{MaxTokens: 1}, &summariser{}, nil)
	history := tale(strings.Repeat("ua", 500))
	view, did, err := r.view(t.Context(), history, false)
	if len(view) != len(history) || did != nil || err != nil || cap(view) != len(view) {
		t.Errorf("%d of %d messages, capacity %d, %+v, %v", len(view), len(history), cap(view), did, err)
	}
}

// Whatever the history and the options: no call without its results, everything
// in its order, every system message, the last message, and between two
// reductions nothing but growth.
func TestReductionInvariants(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 1))
		strategies := []ReductionStrategy{ReduceNone, ReduceCount, ReduceSummary}
		m := &summariser{text: "sum", window: 2000}
		opts := Reduction{
			Strategy: strategies[rng.IntN(3)], Target: 1 + rng.IntN(8), Threshold: 1 + rng.IntN(4),
			MaxTokens: []int{0, 60, 300}[rng.IntN(3)], Share: []float64{0, 0.1}[rng.IntN(2)],
		}
		r := newReducer(opts, m, nil)
		var history, last []Message
		letters := ""
		for range 40 {
			letters += []string{"u", "ua", "uu", "uAt", "AtAt", "a", "s", "uuuuuuuuuuu"}[rng.IntN(8)]
			history = tale(letters)
			for i := range history {
				if history[i].Role == Assistant {
					history[i].Parts = append([]Part{{Type: ReasoningPart, Text: "Hm."}}, history[i].Parts...)
				}
			}
			m.err = nil
			if rng.IntN(8) == 0 {
				m.err = errors.New("no")
			}
			if rng.IntN(10) == 0 { // the turn ends and another one begins
				was := *r
				stored := r.summary()
				if stored == nil {
					stored = &Summary{Text: r.text, Covers: r.summarized, Thoughtless: r.thoughtless}
				}
				r = newReducer(opts, m, stored)
				r.earlier = countCoverable(history)
				r.input = r.earlier
				if was.covers != was.summarized {
					last = nil // its view was one that is not stored
				}
			}
			before := r.covers
			view, did, _ := r.view(t.Context(), history, rng.IntN(15) == 0)
			if problem := wrongIn(view, history); problem != "" {
				t.Fatalf("seed %d, %+v: %s\nhistory %s\nview %s", seed, opts, problem, letters, viewText(view))
			}
			if r.covers == before && !strings.HasPrefix(viewText(view)+" ", viewText(last)+" ") && len(last) > 0 {
				t.Fatalf("seed %d, %+v: without a reduction (%+v) the view went from\n%s to\n%s", seed, opts, did, viewText(last), viewText(view))
			}
			if r.covers == before && len(last) > 0 && !reflect.DeepEqual(view[:len(last)], last) {
				t.Fatalf("seed %d, %+v: without a reduction (%+v) thoughts changed in\n%s", seed, opts, did, viewText(view))
			}
			if r.covers > before && thinksEarlier(view, history, r.earlier) {
				t.Fatalf("seed %d, %+v: after a reduction (%+v) earlier turns have thoughts in\n%s", seed, opts, did, viewText(view))
			}
			if did != nil && !did.Cached && r.covers <= before && did.Forced {
				t.Fatalf("seed %d: reported %+v, but nothing was left out", seed, did)
			}
			last = view
		}
	}
}

// thinksEarlier reports whether thoughts of the first n messages, system messages
// aside, are in a view.
func thinksEarlier(view, history []Message, n int) bool {
	late := map[string]bool{}
	for i, at := range newPast(history).at {
		late[history[at].ID] = i >= n
	}
	return slices.ContainsFunc(view, func(m Message) bool {
		return !late[m.ID] && slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Type == ReasoningPart })
	})
}

// wrongIn says what is wrong in a view of a history.
func wrongIn(view, history []Message) string {
	if err := checkHistory("view", view); err != nil {
		return err.Error()
	}
	place, systems := -1, 0
	at := map[string]int{}
	for i, m := range history {
		at[m.ID] = i
		if m.Role == System {
			systems++
		}
	}
	for _, m := range view {
		switch {
		case m.Role == System:
			systems--
		case m.Summary:
		case at[m.ID] <= place:
			return m.ID + " is out of order"
		default:
			place = at[m.ID]
		}
	}
	last := history[len(history)-1]
	if systems != 0 || last.Role != System && (len(view) == 0 || view[len(view)-1].ID != last.ID) {
		return "a system message or the last message is missing"
	}
	return ""
}
