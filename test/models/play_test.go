package models_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// play is one turn: what is said (the first words choose the play of
// server.mjs), what goes wrong on the wire, and how the turn must end.
type play struct {
	name    string
	say     string // what the user says; the name if empty
	files   []agent.Part
	options func(o *agent.Options)
	before  []string          // what was said in the turns before, which nothing disturbs
	after   bool              // nothing disturbs one more turn, and it ends well
	only    func(w wire) bool // the wires that know such a thing, all if nil

	faults func(w wire) []fault // of the attempts of the turn, in order
	rest   fault                // of all attempts after those

	outcome  agent.Outcome // completed if empty
	reason   agent.Reason  // done if empty
	attempts int           // 1 if zero
	text     string        // of the last message that stays
	cut      bool          // the last message stays as far as it came, in place of text
	calls    int           // how often the tool weather runs
	check    func(t *testing.T, w wire, s story)
}

// story is what there is to see after a turn.
type story struct {
	*recorder
	stored   []agent.Message // what the turn added after its input
	attempts []asked         // what it sent
	ledger   *ledger
}

// ledger counts what the tool weather did.
type ledger struct {
	mu   sync.Mutex
	done map[string]int // by city
}

func (l *ledger) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, times := range l.done {
		n += times
	}
	return n
}

type weatherOf struct {
	City string `json:"city"`
	Note string `json:"note,omitempty"`
}

// tool returns the tool that writes into the ledger.
func (l *ledger) tool() agent.Tool {
	return agent.Func("weather", "Returns the weather of a city.", func(_ context.Context, in weatherOf) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.done[fmt.Sprintf("%.40s", in.City)]++
		return fmt.Sprintf("It rains in %.40s.", in.City), nil
	})
}

// camera is a tool that answers with an image.
var camera = agent.Func("camera", "Takes a picture.", func(context.Context, struct{}) (agent.Output, error) {
	picture := agent.File{Name: "dot.png", MediaType: "image/png", Data: pixelBytes}
	return agent.Output{Text: "One picture.", Files: []agent.File{picture}}, nil
})

// once is a list with one fault.
func once(f ...fault) func(wire) []fault { return func(wire) []fault { return f } }

// test plays it over one wire.
func (p play) test(t *testing.T, w wire) {
	t.Helper()
	var faults []fault
	if p.faults != nil {
		faults = p.faults(w)
	}
	vendor := newProxy(t, faults, p.rest)
	vendor.pause(true)
	l := &ledger{done: map[string]int{}}
	o := agent.Options{
		Tools: []agent.Tool{l.tool(), camera},
		Retry: agent.Retry{Base: time.Millisecond, Max: 4 * time.Millisecond},
	}
	if p.options != nil {
		p.options(&o)
	}
	a, err := agent.New(w.model(vendor.URL), o)
	if err != nil {
		t.Fatal(err)
	}
	c := newTalk(t)
	undisturbed := func(say string) {
		t.Helper()
		heard := c.turn(a, agent.Say("\n"+say))
		heard.judge(c.added())
		if end := heard.end(); end.Outcome != agent.Completed {
			t.Fatalf("the turn %q beside this one ended as %s because of %s: %v", say, end.Outcome, end.Reason, end.Err)
		}
	}
	for _, say := range p.before {
		undisturbed(say)
	}
	clear(l.done)
	asked := len(vendor.attempts())
	vendor.pause(false)
	heard := c.turn(a, p.input())
	s := story{recorder: heard, stored: c.added(), attempts: vendor.attempts()[asked:], ledger: l}
	s.judge(s.stored)
	p.expect(t, s)
	if p.check != nil && !t.Failed() {
		p.check(t, w, s)
	}
	if p.after {
		vendor.pause(true)
		undisturbed("text")
	}
	for _, r := range vendor.attempts() {
		if r.path != w.path {
			t.Errorf("a request went to %s", r.path)
		}
		saysSomething(t, r.body)
	}
}

func (p play) input() agent.Message {
	say := p.say
	if say == "" {
		say = p.name
	}
	m := agent.Say(say)
	m.Parts = append(m.Parts, p.files...)
	return m
}

// expect compares how the turn ended with how it had to.
func (p play) expect(t *testing.T, s story) {
	t.Helper()
	want := p
	if want.outcome == "" {
		want.outcome = agent.Completed
	}
	if want.reason == "" {
		want.reason = agent.ReasonDone
	}
	want.attempts = max(1, want.attempts)
	end := s.end()
	if end.Outcome != want.outcome || end.Reason != want.reason {
		t.Errorf("the turn ended as %s because of %s (%q, %v), want %s because of %s",
			end.Outcome, end.Reason, end.Message, end.Err, want.outcome, want.reason)
	}
	if n := len(s.attempts); n != want.attempts || n != s.total() {
		t.Errorf("the vendor was asked %d times, the events say %d, want %d; %v", n, s.total(), want.attempts, s.retries)
	}
	switch kept := s.kept(); {
	case p.cut:
		if len(kept) == 0 || !kept[len(kept)-1].interrupted || s.text() == "" {
			t.Errorf("the last message says %.300q, want one that was cut short", s.text())
		}
	case s.text() != want.text:
		t.Errorf("the last message says %.300q, want %.300q", s.text(), want.text)
	}
	if got := s.ledger.total(); got != want.calls {
		t.Errorf("the tool ran %d times, want %d: %v", got, want.calls, s.ledger.done)
	}
	for _, err := range s.warnings {
		t.Errorf("a warning: %v", err)
	}
}

// talk is a conversation and the store that it is in.
type talk struct {
	t     *testing.T
	store agent.Store
	conv  *agent.Conversation
	seen  int // messages before and with the input of the last turn
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	store := agent.NewMemory()
	return &talk{t: t, store: store, conv: agent.OpenConversation(store, "talk")}
}

// messages returns what is stored.
func (c *talk) messages() []agent.Message {
	c.t.Helper()
	record, err := c.store.Load(bounded(c.t), "talk")
	if err != nil {
		c.t.Fatal(err)
	}
	if record.Open != nil {
		c.t.Errorf("turn %s is stored as open", record.Open.ID)
	}
	return record.Messages
}

// turn takes a turn and returns the recorder of its events.
func (c *talk) turn(a *agent.Agent, input agent.Message) *recorder {
	t := c.t
	t.Helper()
	if c.seen > 0 {
		c.seen = len(c.messages())
	}
	c.seen++
	w := newRecorder(t)
	for e, err := range a.Stream(bounded(t), c.conv, input) {
		if err != nil {
			t.Fatalf("the turn did not begin: %v", err)
		}
		w.hear(e)
	}
	return w
}

// added returns what the last turn added after its input.
func (c *talk) added() []agent.Message {
	c.t.Helper()
	all := c.messages()
	if len(all) < c.seen || all[c.seen-1].Role != agent.User {
		c.t.Fatalf("the input is not stored: %d messages", len(all))
	}
	return all[c.seen:]
}
