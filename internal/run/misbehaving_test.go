package run_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// misbehavingTools succeed, fail, ask people, rest, and ask an agent that may hang.
const misbehavingTools = `"tools":[
	{"name":"lamp","displayTool":true,"execution":{"mode":"static","output":{"price":5}}},
	{"name":"pick","displayTool":true,"execution":{"mode":"no-execution"}},
	{"name":"danger","requiresPermission":true,"displayTool":true,"execution":{"mode":"static","output":{"done":1}}},
	{"name":"rest","executionType":"waiting","execution":{"duration":90}},
	{"name":"broken","executionType":"request","execution":{"url":"http://127.0.0.1:9/","method":"POST"}},
	{"name":"consult","executionType":"ai-agent","execution":{"agentConfig":"expert"}}]`

// misbehaving are the models of several agents that answer, hang, loop, fail, refuse and
// start one another, as a seed says. They note what they did for which mention.
type misbehaving struct {
	t     *testing.T
	names []shoal.EntityID
	calm  atomic.Bool // they answer at once

	mu     sync.Mutex
	rand   *rand.Rand
	chains int
	spoke  map[key]time.Time
	lines  map[key][]string
	silent map[key]bool
	used   map[string]int64 // by the message at the root
}

// key is what a model works for.
type key struct {
	agent shoal.EntityID
	token string
}

// tokensPerCall is what each call of a model uses.
var tokensPerCall = agent.Usage{InputTokens: 900, OutputTokens: 100}

func newMisbehaving(t *testing.T, seed uint64) *misbehaving {
	return &misbehaving{t: t, rand: rand.New(rand.NewPCG(seed, 1)), spoke: map[key]time.Time{}, lines: map[key][]string{}, silent: map[key]bool{}, used: map[string]int64{}}
}

// tokens are m7! in a message of ann's, and m7.1! in one that an agent sent for it.
var tokens = regexp.MustCompile(`m\d+[.\d]*!`)

// note keeps what a model does for a mention. The lock must not be held.
func (b *misbehaving) note(k key, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spoke[k] = time.Now()
	b.lines[k] = append(b.lines[k], time.Now().Format(time.TimeOnly)+" "+what)
}

func (b *misbehaving) last(m *mentioned) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spoke[key{m.agent, m.token}]
}

func (b *misbehaving) wentSilent(m *mentioned) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.silent[key{m.agent, m.token}]
}

func (b *misbehaving) logOf(m *mentioned) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.lines[key{m.agent, m.token}], "\n")
}

// most returns the message that has used most, with all its runs.
func (b *misbehaving) most() (root string, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r, n := range b.used {
		if n > used {
			root, used = r, n
		}
	}
	return root, used
}

// of returns the model of an agent.
func (b *misbehaving) of(id shoal.EntityID) agent.Model {
	return misbehavingModel{b, id}
}

type misbehavingModel struct {
	*misbehaving
	id shoal.EntityID
}

// Info implements [agent.Model].
func (m misbehavingModel) Info() agent.ModelInfo {
	return agent.ModelInfo{Provider: "script", Name: "script"}
}

// Stream implements [agent.Model].
func (m misbehavingModel) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	k, called := m.about(req)
	m.note(k, "is asked")
	answer := m.answer(k, called)
	return func(yield func(agent.Chunk, error) bool) {
		for c, err := range script.Func(func(*agent.Request) script.Answer { return answer }).Stream(ctx, req) {
			m.note(k, fmt.Sprint(c.Kind))
			if c.Kind == agent.ChunkUsage {
				m.use(k)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (b *misbehaving) use(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	root, _, _ := strings.Cut(strings.TrimSuffix(k.token, "!"), ".")
	b.used[root] += tokensPerCall.InputTokens + tokensPerCall.OutputTokens
}

// about returns what a request is for, and whether tools were called for it before.
func (m misbehavingModel) about(req *agent.Request) (key, bool) {
	called := false
	for i := len(req.Messages) - 1; i >= 0; i-- {
		said := req.Messages[i]
		if said.Role != agent.User {
			called = called || said.Role == agent.ToolRole
			continue
		}
		if found := tokens.FindAllString(said.Text(), -1); len(found) > 0 {
			return key{m.id, found[len(found)-1]}, called
		}
	}
	return key{m.id, "none"}, called
}

// answer makes up what a model does next.
func (b *misbehaving) answer(k key, called bool) script.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := script.Answer{Text: "Here is what you wanted.", Usage: tokensPerCall}
	if b.calm.Load() {
		return a
	}
	if b.rand.IntN(4) == 0 {
		a.Delay = time.Duration(b.rand.IntN(30)) * time.Second
	}
	switch r := b.rand.IntN(100); {
	case r < 30:
	case r < 40:
		a.Delay = time.Hour // it hangs
	case r < 51:
		a.Text, a.Err = []string{"", "Here is"}[b.rand.IntN(2)], b.failure()
	case r < 54:
		a.Text = ""
		b.silent[k] = called // after tools, to say nothing is an end
	default:
		a.Text, a.Calls = "", []agent.ToolCall{b.call(k)}
	}
	return a
}

func (b *misbehaving) failure() error {
	all := []agent.ErrorClass{agent.ClassRateLimited, agent.ClassOverloaded, agent.ClassNetwork, agent.ClassTimeout, agent.ClassMalformed, agent.ClassAuth, agent.ClassInvalid, agent.ClassContextOverflow, agent.ClassFiltered, agent.ClassQuota}
	err := &agent.ModelError{Class: all[b.rand.IntN(len(all))], Provider: "script"}
	if b.rand.IntN(2) == 0 {
		err.Class, err.RetryAfter = agent.ClassRateLimited, 3*time.Minute // the run is silent for so long
	}
	return err
}

// call makes up a call of a tool.
func (b *misbehaving) call(k key) agent.ToolCall {
	b.chains++
	next := fmt.Sprintf("%s.%d!", strings.TrimSuffix(k.token, "!"), b.chains)
	sends := func(more string) agent.ToolCall {
		return call("", "sendSpaceMessage", fmt.Sprintf(`{"spaceId":"shop","text":"Go on with %s"%s}`, next, more))
	}
	switch b.rand.IntN(12) {
	case 0:
		return sends("")
	case 1, 2, 3:
		return sends(fmt.Sprintf(`,"mention":%q`, b.names[b.rand.IntN(len(b.names))]))
	case 4:
		return sends(`,"wait":{"for":[{"type":"human"}],"timeout":100}`)
	case 5:
		return sends(fmt.Sprintf(`,"mention":%[1]q,"wait":{"for":[{"type":"entity","entityId":%[1]q}],"timeout":120}`, b.names[b.rand.IntN(len(b.names))]))
	case 6, 7:
		return call("", "consult", fmt.Sprintf(`{"prompt":"Help %s with %s"}`, k.agent, k.token))
	case 8:
		return call("", "danger", `{}`)
	case 9:
		return call("", "pick", `{"targetSpaceId":"shop"}`)
	case 10:
		return call("", "rest", `{}`)
	}
	return call("", []string{"lamp", "broken", "unknown"}[b.rand.IntN(3)], `{}`)
}

// expert answers the agents that consult it, or hangs.
func (b *misbehaving) expert(req *agent.Request) script.Answer {
	text := req.Messages[len(req.Messages)-1].Text()
	k := key{shoal.EntityID(strings.Fields(text + " ? ?")[1]), tokens.FindString(text)}
	b.note(k, "consults")
	b.mu.Lock()
	defer b.mu.Unlock()
	a := script.Answer{Text: "It costs 5.", Usage: tokensPerCall}
	if !b.calm.Load() {
		switch b.rand.IntN(5) {
		case 0, 1:
			a.Delay = time.Hour
		case 2:
			a.Delay = 40 * time.Second
		case 3:
			a.Err = b.failure()
		}
	}
	return a
}
