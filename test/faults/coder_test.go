package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/coder"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
)

// The steps of a turn at which something is killed, in their order, and what is killed.
var (
	coderSteps   = []string{"prompted", "said", "asked", "at work", "finished", "ended"}
	coderVictims = []string{"agent", "runner", "server", "line"}
)

// cutSteps are the steps at which the line is cut for longer than the lease, in one of these ways: it is
// reset, or nothing comes through.
var (
	cutSteps = []string{"prompted", "said", "at work", "finished"}
	cutWays  = []string{"long cut", "silence"}
)

// coderRound is one turn of an agent, with a kill at one of its steps.
type coderRound struct {
	n            int
	step, victim string
	choice       string // what people answer if they are asked
	run          shoal.RunID

	mu       sync.Mutex
	struck   bool
	healed   bool
	executed int
	asked    []string // questions
}

func (r *coderRound) String() string {
	return fmt.Sprintf("round %d: %s killed at %q, %q if asked", r.n, r.victim, r.step, r.choice)
}

func (r *coderRound) order() string { return fmt.Sprintf("order-%d.", r.n) }

// words are the two parts of the answer.
func (r *coderRound) words() (first, second string) {
	return fmt.Sprintf("First of %d. ", r.n), fmt.Sprintf("Second of %d.", r.n)
}

// coderCourse is a test of kills during turns.
type coderCourse struct {
	*machines
	agent  *coder.Coder
	runner *machine
	cut    time.Duration // how long a long one is
	cuts   sync.WaitGroup

	mu    sync.Mutex
	round *coderRound
	found []string
}

func (c *coderCourse) now() *coderRound {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.round
}

func (c *coderCourse) finding(r *coderRound, kind, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, kind+": "+r.String()+": "+fmt.Sprintf(format, args...))
}

// play is a careful agent: it does what is missing, and repeats nothing that it has done before.
func (c *coderCourse) play(t *coder.Turn) {
	r := c.now()
	first, second := r.words()
	_, read, goesOn := strings.Cut(t.Text, "do not repeat them:\n")
	r.mu.Lock()
	done := r.executed > 0 && (goesOn || strings.Contains(t.Text, "may have the message below") || strings.Contains(t.Text, "Nothing of your answer"))
	r.mu.Unlock()
	if c.step(t, "prompted") {
		return
	}
	if !strings.Contains(read, strings.TrimSpace(first)) {
		t.Say(first)
	}
	if c.step(t, "said") {
		return
	}
	if !done && c.execute(t, r) {
		return
	}
	if !strings.Contains(read, second) {
		t.Say(second)
	}
	if !c.step(t, "finished") {
		t.Ends = func() { c.step(t, "ended") }
	}
}

// execute executes the one command of a turn. It reports whether the turn is over.
func (c *coderCourse) execute(t *coder.Turn, r *coderRound) (over bool) {
	id := fmt.Sprintf("call-%d-%d", r.n, len(c.agent.Prompts()))
	t.Call(id, "make")
	answer := t.Ask(id, "make")
	if c.step(t, "asked") {
		return true
	}
	select {
	case yes := <-answer:
		if !yes {
			t.Do(id, "failed")
			return false
		}
	case <-t.Over():
		return true
	case <-t.Interrupted():
		return true
	}
	t.Do(id, "in_progress")
	r.mu.Lock()
	r.executed++
	r.mu.Unlock()
	if c.step(t, "at work") {
		return true
	}
	t.Do(id, "completed")
	return false
}

// step is reached by the turn of the round. It kills what is to be killed there, and reports whether the
// turn is over.
func (c *coderCourse) step(t *coder.Turn, name string) (over bool) {
	r := c.now()
	r.mu.Lock()
	strikes := r.step == name && !r.struck
	heals := r.struck && !r.healed && r.victim == "line"
	r.struck, r.healed = r.struck || strikes, r.healed || heals
	r.mu.Unlock()
	if strikes {
		c.strike(t, r)
	}
	if heals {
		c.line.Heal()
	}
	select {
	case <-t.Over():
		return true
	case <-t.Interrupted():
		return true
	default:
		return false
	}
}

func (c *coderCourse) strike(t *coder.Turn, r *coderRound) {
	switch r.victim {
	case "agent":
		t.Kill()
	case "runner":
		c.runner.kill()
		<-t.Over() // it ends with its runner
		c.runner.start()
	case "server":
		c.server.Kill()
		if _, err := c.server.TryStart(context.Background()); err != nil {
			c.finding(r, "end", "the server does not start: %v", err)
		}
	case "long cut", "silence":
		if c.line.Cut(); r.victim == "silence" {
			c.line.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
		}
		c.cuts.Go(func() { // the agent goes on
			<-time.After(c.cut)
			c.line.Heal()
		})
	case "line": // until the next step, if there is one that needs no line
		c.line.Cut()
		if r.step == "asked" || r.step == "ended" {
			c.line.Heal()
		}
	}
}

// killCoders plays rounds; pairs are the steps and the victims of the kills, in turn. A long cut is longer than the lease.
func killCoders(t *testing.T, env []string, pairs [][2]string, lease, cut time.Duration, rounds int, seed uint64) outcome {
	t.Helper()
	c := &coderCourse{machines: newMachines(t, env, lease), cut: cut}
	c.agent = coder.New(t, c.play)
	c.runner = c.run(runnerOf(t, c.agent, "scout")...)
	c.untilServed("scout")
	ctx, cancel := context.WithCancel(t.Context())
	var helpers sync.WaitGroup
	events := map[shoal.Cursor]int{}
	helpers.Go(func() {
		c.decide(ctx, func(question string) string {
			r := c.now()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.asked = append(r.asked, question)
			return r.choice
		})
	})
	helpers.Go(func() {
		for e, err := range c.operator.Follow(ctx, client.FollowOptions{Space: app.Welcome}) {
			if err == nil && e.Cursor != "" {
				events[e.Cursor]++
			}
		}
	})
	counted := 0
	dice := random(seed, 22)
	dice.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for ; counted < rounds && len(c.found) == 0; counted++ {
		pair := pairs[counted%len(pairs)]
		r := &coderRound{n: counted, step: pair[0], victim: pair[1], choice: []string{"Go on", "Start anew", "Leave it"}[dice.IntN(3)]}
		c.mu.Lock()
		c.round = r
		c.mu.Unlock()
		c.playRound(r)
	}
	cancel()
	helpers.Wait()
	for _, n := range events {
		if n > 1 {
			c.found = append(c.found, fmt.Sprintf("twice: %d events were delivered more than once", n))
		}
	}
	c.runner.stop()
	c.noneLeft(&coderRound{n: counted})
	return outcome{count: counted, operations: len(events), found: c.found, slowest: c.server.Slowest}
}

// coderPairs are all steps with all victims.
func coderPairs(steps, victims []string) (pairs [][2]string) {
	for _, step := range steps {
		for _, victim := range victims {
			pairs = append(pairs, [2]string{step, victim})
		}
	}
	return pairs
}

// playRound lets the agent answer an order, and checks what came of it.
func (c *coderCourse) playRound(r *coderRound) {
	prompts, interrupts := len(c.agent.Prompts()), c.agent.Interrupts()
	r.run = c.mention("scout", r.order())
	var run shoal.Run
	if !c.until(func() (ended bool) {
		got, err := c.operator.Run(c.t.Context(), r.run)
		run = got
		return err == nil && got.Status.Ended()
	}) {
		c.finding(r, "lost", "the run does not end: %+v, the agent was sent %q", run, c.agent.Prompts()[prompts:])
		return
	}
	c.cuts.Wait()
	c.line.Heal()
	r.mu.Lock()
	executed, asked := r.executed, slices.Clone(r.asked)
	r.mu.Unlock()
	left, anew := len(asked) > 0 && r.choice == "Leave it", len(asked) > 0 && r.choice == "Start anew"
	c.checkRun(r, run, left)
	c.checkPrompts(r, c.agent.Prompts()[prompts:], len(asked) > 0)
	if n := c.agent.Interrupts() - interrupts; n > 0 {
		c.finding(r, "other", "the agent was interrupted %d times", n)
	}
	if executed > 1 && !anew || executed == 0 && !left {
		c.finding(r, "twice", "its command was executed %d times", executed)
	}
	c.checkText(r, left, anew)
	c.noneLeft(r)
}

func (c *coderCourse) checkRun(r *coderRound, run shoal.Run, left bool) {
	switch {
	case left && (run.Status != shoal.RunFailed || run.Error.Code != "outcome_unknown"):
		c.finding(r, "other", "the run was left, and is %s: %+v", run.Status, run.Error)
	case !left && run.Status != shoal.RunCompleted:
		c.finding(r, "other", "the run is %s: %+v", run.Status, run.Error)
	}
}

// checkPrompts checks that the order was in one prompt, and in another only if a person decided so, or if
// the agent had ended without a word while its runner lived.
func (c *coderCourse) checkPrompts(r *coderRound, prompts []coder.Prompt, asked bool) {
	times := 0
	for _, p := range prompts {
		if strings.Contains(p.Text, r.order()) {
			times++
		}
	}
	silent := r.victim == "agent" && r.step == "prompted"
	if again := times == 2 && (asked || silent); times != 1 && !again {
		c.finding(r, "twice", "the order was sent %d times: %q", times, prompts)
	}
	if r.victim != "agent" && r.victim != "runner" && len(prompts) != 1 {
		c.finding(r, "twice", "%d prompts: %q", len(prompts), prompts)
	}
	if unknown := r.victim == "runner" || r.victim == "agent" && r.step == "at work"; asked && !unknown {
		c.finding(r, "other", "people were asked although all was known")
	}
}

// checkText checks that what the agent has said is in the space once.
func (c *coderCourse) checkText(r *coderRound, left, anew bool) {
	text := c.text(r)
	first, second := r.words()
	for _, word := range []string{strings.TrimSpace(first), second} {
		switch n := strings.Count(text, word); {
		case n == 0 && !left:
			c.finding(r, "lost", "%q is missing in %q", word, text)
		case n > 1 && !anew:
			c.finding(r, "twice", "%q is %d times in %q", word, n, text)
		}
	}
}

// text returns what the run has written so far.
func (c *coderCourse) text(r *coderRound) (text string) {
	all, err := c.operator.Messages(c.t.Context(), app.Welcome, client.MessagesOptions{})
	if err != nil {
		return err.Error()
	}
	for _, m := range all {
		if m.RunID != nil && *m.RunID == r.run {
			text += m.Text() + "\n"
		}
	}
	return text
}

// noneLeft checks that no process of the agent is left but those that serve.
func (c *coderCourse) noneLeft(r *coderRound) {
	var left []int
	if !c.until(func() bool { left = c.agent.Left(); return len(left) == 0 }) {
		c.finding(r, "other", "processes are left: %v", left)
	}
}

// The agent, its runner, the server and the line between them are killed in each step of a turn: no
// prompt is sent twice, no command is executed twice, no word is lost or repeated, no event comes twice,
// and no process is left.
func TestKilledCoders(t *testing.T) {
	seed := randomSeed(t)
	pairs := coderPairs(coderSteps, coderVictims)
	o := killCoders(t, nil, pairs, time.Second, 0, times(t, "SHOAL_CODER_KILLS", uint64(len(pairs))), seed)
	o.fault = "kill -9 of a coding agent, its runner or the server, or a cut line between them, in each step of a turn"
	report(t, o)
}

// The line between a runner and its server is cut for longer than the lease, or nothing comes through:
// the agent goes on, and nothing is lost or done twice.
func TestCutCoders(t *testing.T) {
	seed := randomSeed(t)
	pairs := coderPairs(cutSteps, cutWays)
	lease, cut := time.Second, 3*time.Second
	if seconds := times(t, "SHOAL_CODER_CUT_SECONDS", 0); seconds > 0 {
		lease, cut = 30*time.Second, time.Duration(seconds)*time.Second
	}
	o := killCoders(t, nil, pairs, lease, cut, times(t, "SHOAL_CODER_CUTS", uint64(len(pairs)/2)), seed)
	o.fault, o.note = "the line between a runner and the server is cut in a turn", fmt.Sprintf("for %v, with leases of %v", cut, lease)
	report(t, o)
}
