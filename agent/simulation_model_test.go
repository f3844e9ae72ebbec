package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// plainModel always answers with one word.
type plainModel struct{}

func (plainModel) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "script", Name: "plain"} }

func (plainModel) Stream(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		_ = yield(agent.Chunk{Kind: agent.ChunkText, Text: "here"}, nil) &&
			yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}, nil)
	}
}

// simModel answers anything. What it says follows from what it is asked and how
// often.
type simModel struct {
	s     *simulation
	name  string
	tools []string

	mu    sync.Mutex
	asked map[string]int
}

func (m *simModel) Info() agent.ModelInfo {
	return agent.ModelInfo{Provider: "script", Name: m.name, Window: 100_000}
}

// fallback gives some agents a second model.
func (s *simulation) fallback(m *simModel) agent.Model {
	if !one(s.rand("fallback", m.name), 30) {
		return m
	}
	return agent.Fallback(m, &simModel{s: s, name: m.name + "'", tools: m.tools, asked: map[string]int{}})
}

// saying is a chunk, what happens before it, and how the answer breaks there.
type saying struct {
	agent.Chunk
	pause time.Duration
	err   error
}

func (m *simModel) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	last := req.Messages[len(req.Messages)-1]
	key := fmt.Sprint(len(req.Messages), last.Text(), last.Results())
	m.mu.Lock()
	m.asked[key]++
	r := m.s.rand(m.name, key, m.asked[key])
	m.mu.Unlock()
	return func(yield func(agent.Chunk, error) bool) {
		for _, c := range m.answer(r) {
			if c.pause > 0 {
				select {
				case <-time.After(c.pause):
				case <-ctx.Done():
					yield(agent.Chunk{}, context.Cause(ctx))
					return
				}
			}
			if c.err != nil {
				yield(agent.Chunk{}, c.err)
				return
			}
			if !yield(c.Chunk, nil) {
				return
			}
		}
	}
}

// answer makes up an answer, and breaks some.
func (m *simModel) answer(r *rand.Rand) []saying {
	var out []saying
	calls := 0
	for range r.IntN(4) {
		switch {
		case one(r, 40):
			out = append(out, sayText(r, agent.ChunkText)...)
		case one(r, 30):
			out = append(out, sayText(r, agent.ChunkReasoning)...)
		case one(r, 10):
			out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkOpaque, Opaque: json.RawMessage(`{"script":1}`)}})
		default:
			n := 1 + r.IntN(3)
			out = append(out, m.sayCalls(r, calls, n)...)
			calls += n
		}
	}
	if len(out) == 0 && !one(r, 10) { // most answers say something
		out = append(out, sayText(r, agent.ChunkText)...)
	}
	usage := &agent.Usage{InputTokens: int64(1 + r.IntN(9)), OutputTokens: int64(r.IntN(9))}
	out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkUsage, Usage: usage}})
	reason := pick(r, agent.FinishStop, agent.FinishStop, agent.FinishCalls, agent.FinishLength, agent.FinishFiltered, agent.FinishOther)
	if m.s.calm.Load() {
		reason = agent.FinishStop
	}
	out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkFinish, Reason: reason}})
	if !m.s.calm.Load() && one(r, 30) {
		return breakOff(r, out)
	}
	return out
}

// breakOff lets an answer fail somewhere.
func breakOff(r *rand.Rand, out []saying) []saying {
	at := r.IntN(len(out))
	switch r.IntN(8) {
	case 0:
		return out[:at] // no finish
	case 1:
		out[at].pause = time.Minute // silence
		return out
	case 2:
		out[at].pause = 2 * time.Second // slow
		return out
	case 3:
		return append(out[:at], saying{err: errors.New("something odd")})
	case 4:
		return append(out[:at], saying{err: &agent.ModelError{Class: agent.ClassRateLimited, RetryAfter: pick(r, time.Second, time.Hour)}})
	}
	class := pick(r, agent.ClassRateLimited, agent.ClassOverloaded, agent.ClassOverloaded, agent.ClassNetwork, agent.ClassNetwork, agent.ClassTimeout,
		agent.ClassMalformed, agent.ClassAuth, agent.ClassInvalid, agent.ClassContextOverflow, agent.ClassFiltered, agent.ClassQuota)
	return append(out[:at], saying{err: &agent.ModelError{Class: class, Provider: "script"}})
}

func sayText(r *rand.Rand, kind agent.ChunkKind) []saying {
	var out []saying
	for range 1 + r.IntN(3) {
		text := pick(r, "one ", "two ", "größer ", "", strings.Repeat("long ", 60))
		out = append(out, saying{Chunk: agent.Chunk{Kind: kind, Text: text}})
	}
	return out
}

// sayCalls makes calls that grow side by side.
func (m *simModel) sayCalls(r *rand.Rand, from, n int) []saying {
	var out []saying
	var left []string
	for i := range n {
		name := pick(r, m.tools...)
		id := pick(r, "", "same", fmt.Sprintf("call_%d", i), fmt.Sprintf("k%x", r.Uint32()), fmt.Sprintf("k%x", r.Uint32()))
		out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkCallStart, Index: from + i, ID: id, Name: name}})
		left = append(left, someArguments(r, name))
	}
	for open := n; open > 0; {
		i := r.IntN(n)
		if left[i] == "\x00" {
			continue
		}
		if left[i] == "" {
			left[i] = "\x00"
			open--
			if one(r, 50) {
				out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkCallEnd, Index: from + i}})
			}
			continue
		}
		size := min(len(left[i]), 1+r.IntN(12))
		out = append(out, saying{Chunk: agent.Chunk{Kind: agent.ChunkCallDelta, Index: from + i, Text: left[i][:size]}})
		left[i] = left[i][size:]
	}
	return out
}

func someArguments(r *rand.Rand, tool string) string {
	if one(r, 12) {
		return pick(r, "", `{"a":`, `{"a":5}`, `[]`, "hello", `{"nobody":"knows"}`, `{"a":"`+strings.Repeat("x", 200)+`"}`)
	}
	if strings.HasPrefix(tool, "sub") {
		return fmt.Sprintf(`{"input":"task %d"}`, r.IntN(1000))
	}
	if tool == "ask_user" {
		return `{"question":"Which colour?"}`
	}
	if one(r, 15) {
		return `{"a":"same"}`
	}
	return fmt.Sprintf(`{"a":"%d"}`, r.IntN(1_000_000))
}
