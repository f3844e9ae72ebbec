package faults

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/coder"
)

// manyCoders is how many agents there are, on two machines in turn, of which each runs placesOfMany
// processes at once.
const (
	manyCoders   = 8
	placesOfMany = 2
)

// The orders of people: every agent mentions the next one, or all others.
const (
	passOn   = "Pass it on."
	tellThem = "Mention everybody."
)

// manyCourse is a test of agents that mention each other.
type manyCourse struct {
	*machines
	coders []*coder.Coder

	mu    sync.Mutex
	turns map[string]int // by agent
	said  []string
	found []string
}

func nameOf(i int) string { return fmt.Sprintf("coder%d", i%manyCoders) }

func (c *manyCourse) finding(kind, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, kind+": "+fmt.Sprintf(format, args...))
}

// play says something, and then mentions others with the key that the agent was given.
func (c *manyCourse) play(t *coder.Turn) {
	_, rest, _ := strings.Cut(t.Text, "You are ")
	self, _, _ := strings.Cut(rest, " ")
	number := 0
	if _, err := fmt.Sscanf(self, "coder%d", &number); err != nil {
		c.finding("other", "a prompt is for nobody: %q", t.Text)
		return
	}
	c.mu.Lock()
	c.turns[self]++
	word := fmt.Sprintf("Turn %d of %s.", c.turns[self], self)
	c.said = append(c.said, word)
	c.mu.Unlock()
	t.Say(word)
	order, others := passOn, []shoal.EntityID{shoal.EntityID(nameOf(number + 1))}
	if strings.LastIndex(t.Text, tellThem) > strings.LastIndex(t.Text, passOn) {
		order, others = tellThem, nil
		for i := range manyCoders {
			if i != number {
				others = append(others, shoal.EntityID(nameOf(i)))
			}
		}
	}
	own, err := client.New(client.Options{URL: strings.TrimSuffix(t.Server().URL, "/mcp"), Key: t.Server().Key})
	if err == nil {
		_, err = own.Session(shoal.DefaultSession).Post(c.t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(order)}, Mentions: others})
	}
	if err != nil {
		c.finding("lost", "%s cannot mention %v: %v", self, others, err)
	}
}

// open lists the runs that have not ended. A run mentions others before it ends, so there is one until
// all have ended.
func (c *manyCourse) open() (all []shoal.Run, err error) {
	return collected(c.operator.Runs(c.t.Context(), client.RunsOptions{Status: []shoal.RunStatus{
		shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply,
	}}))
}

// ended waits until all runs have ended, and returns them. It gives up when nothing happens any more.
func (c *manyCourse) ended() (all []shoal.Run) {
	type progress struct{ said, open int }
	var open []shoal.Run
	for last := (progress{}); ; {
		now := last
		moves := c.until(func() bool {
			found, err := c.open()
			c.mu.Lock()
			defer c.mu.Unlock()
			open, now = found, progress{len(c.said), len(found)}
			return err == nil && (now.open == 0 || now != last)
		})
		if last = now; !moves {
			c.finding("lost", "%d runs do not end: %+v", len(open), open)
		}
		if !moves || now.open == 0 {
			break
		}
	}
	all, err := collected(c.operator.Runs(c.t.Context(), client.RunsOptions{}))
	if err != nil {
		c.finding("lost", "the runs cannot be read: %v", err)
	}
	return all
}

func collected[T any](from iter.Seq2[T, error]) (all []T, err error) {
	for one, err := range from {
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (c *manyCourse) timeline() (text string) {
	for m, err := range c.operator.Timeline(c.t.Context(), app.Welcome, 0) {
		if err != nil {
			return err.Error()
		}
		text += m.Text() + "\n"
	}
	return text
}

// Eight agents on two machines mention each other. A chain of them ends at the depth limit, and agents
// that all mention each other when their budgets are spent: to the last turn, and no further. On a
// machine never more processes exist than its runner may have, no turn is lost, and no word.
func TestManyCoders(t *testing.T) {
	turns := times(t, "SHOAL_CODER_TURNS", 6)
	c := &manyCourse{machines: newMachines(t, nil, patience), turns: map[string]int{}}
	var runners []*machine
	for m := range 2 {
		one := coder.New(t, c.play)
		c.coders = append(c.coders, one)
		text := fmt.Sprintf("maxProcesses: %d\nagents:\n", placesOfMany)
		for i := m; i < manyCoders; i += 2 {
			var command []string
			for _, flag := range one.Flags(t) {
				command = append(command, strings.TrimPrefix(flag, "--program="))
			}
			text += fmt.Sprintf("  %s:\n    kind: acp\n    dir: %q\n    command: [%q, %q]\n    respondTo: [members]\n    budget: {maxTurnsPerHour: %d}\n",
				nameOf(i), t.TempDir(), command[0], command[1], turns)
		}
		path := filepath.Join(t.TempDir(), "runner.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		runners = append(runners, c.run("--file", path, "--machine", fmt.Sprintf("machine%d", m)))
	}
	for i := range manyCoders {
		c.untilServed(shoal.EntityID(nameOf(i)))
	}
	c.mention(shoal.EntityID(nameOf(0)), passOn)
	chain := c.ended()
	const limit = "agents have mentioned each other 33 times in a row here"
	if text := c.timeline(); strings.Count(text, limit) != 1 || len(chain) != 33 {
		c.finding("other", "the chain ends after %d runs with\n%s", len(chain), text)
	}
	c.mention(shoal.EntityID(nameOf(0)), tellThem)
	c.checkBudget(c.ended(), turns)
	text := c.timeline()
	for _, word := range c.said {
		if n := strings.Count(text, word); n != 1 {
			c.finding("lost", "%q is %d times in the space", word, n)
		}
	}
	for i, one := range c.coders {
		if most := one.Most(); most > placesOfMany || one.Started() <= manyCoders/2 {
			c.finding("other", "machine %d started %d processes and had %d at once, want at most %d", i, one.Started(), most, placesOfMany)
		}
		runners[i].stop()
		if left := []int(nil); !c.until(func() bool { left = one.Left(); return len(left) == 0 }) {
			c.finding("other", "processes are left: %v", left)
		}
	}
	report(t, outcome{
		fault: "eight coding agents on two machines mention each other, with places for two on each", count: 2,
		operations: len(c.said), found: c.found,
	})
}

// checkBudget checks that every agent had all its turns, and that each run had one or failed because
// its agent had none left.
func (c *manyCourse) checkBudget(runs []shoal.Run, turns int) {
	done := map[string]int{}
	for _, r := range runs {
		switch {
		case r.Status == shoal.RunCompleted:
			done[string(r.AgentID)]++
		case r.Status != shoal.RunFailed || r.Error.Code != "budget_exhausted":
			c.finding("lost", "the run %s of %s is %s: %+v", r.ID, r.AgentID, r.Status, r.Error)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range manyCoders {
		if name := nameOf(i); done[name] != turns || c.turns[name] != turns {
			c.found = append(c.found, fmt.Sprintf("other: %s had %d turns and completed %d runs, want %d", name, c.turns[name], done[name], turns))
		}
	}
}
