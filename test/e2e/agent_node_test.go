package e2e_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"sync"
	"testing"
)

// nodeAgent is agent.mjs and the calls that wait for its lines.
type nodeAgent struct {
	*process
	greeted greeting

	updated chan string // the resources that it was notified of
	tasks   chan task   // the states of its tasks

	mu     sync.Mutex
	last   int
	answer map[int]chan outcome
	gone   error // why no more answers come
}

// nodeError is an error as agent.mjs prints it.
type nodeError struct {
	Name    string     `json:"name"`
	Code    any        `json:"code"`
	Message string     `json:"message"`
	Cause   *nodeError `json:"cause"`
}

func (e *nodeError) Error() string {
	if e.Cause != nil {
		return e.Name + ": " + e.Message + ": " + e.Cause.Error()
	}
	return e.Name + ": " + e.Message
}

// task is the state of a task.
type task struct {
	ID     string `json:"taskId"`
	Status string `json:"status"`
}

// nodeLine is one line that agent.mjs prints.
type nodeLine struct {
	Connected *greeting  `json:"connected"`
	Failed    *nodeError `json:"failed"`
	ID        int        `json:"id"`
	Error     *nodeError `json:"error"`
	Result    struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		Contents          []struct {
			Text string `json:"text"`
		} `json:"contents"`
		CacheScope string `json:"cacheScope"`
	} `json:"result"`
	Task     *task `json:"task"`
	Notified *struct {
		Method string `json:"method"`
		Params struct {
			URI string `json:"uri"`
		} `json:"params"`
	} `json:"notified"`
}

func nodeAgentOf(t *testing.T, env []string, options ...string) *nodeAgent {
	t.Helper()
	a, failed := startNode(t, env, options)
	if failed != nil {
		t.Fatalf("%v: %v", options, failed)
	}
	go a.listen() // ends with the process
	return a
}

// startNode starts agent.mjs and returns what it says first.
func startNode(t *testing.T, env, options []string) (*nodeAgent, error) {
	t.Helper()
	cmd := exec.Command("node", append([]string{"agent.mjs"}, options...)...) // ended by start
	cmd.Dir, cmd.Env = nodeDir, cleanEnviron(env...)
	a := &nodeAgent{process: start(t, cmd), updated: make(chan string, 64), tasks: make(chan task, 64), answer: map[int]chan outcome{}}
	var first nodeLine
	if err := json.Unmarshal([]byte(a.line()), &first); err != nil {
		t.Fatal(err)
	}
	if first.Failed != nil {
		return nil, first.Failed
	}
	a.greeted = *first.Connected
	return a, nil
}

// listen hands each answer to its call.
func (a *nodeAgent) listen() {
	for text := range a.lines {
		var line nodeLine
		o := outcome{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			o.err = err
		} else if line.Notified != nil {
			if line.Notified.Method == "notifications/resources/updated" {
				a.updated <- line.Notified.Params.URI
			}
			continue
		} else if line.Task != nil {
			a.tasks <- *line.Task
			continue
		} else if line.Error != nil {
			o.err = line.Error
		} else {
			o.result = toolResult{Structured: line.Result.StructuredContent, IsError: line.Result.IsError, CacheScope: line.Result.CacheScope}
			for _, c := range line.Result.Content {
				o.result.add(c.Text)
			}
			for _, c := range line.Result.Contents {
				o.result.add(c.Text)
			}
		}
		a.mu.Lock()
		if done := a.answer[line.ID]; done != nil {
			done <- o
			delete(a.answer, line.ID)
		}
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = errors.New("the agent has ended")
	for _, done := range a.answer {
		done <- outcome{err: a.gone}
	}
	clear(a.answer)
}

func (a *nodeAgent) hello() greeting { return a.greeted }

func (a *nodeAgent) begin(t *testing.T, tool string, in args) *call {
	t.Helper()
	id, done := a.order(t, map[string]any{"tool": tool, "arguments": in})
	return &call{tool, done, func() { a.order(t, map[string]any{"cancel": id}) }}
}

// order sends agent.mjs a line and returns where its answer comes.
func (a *nodeAgent) order(t *testing.T, line map[string]any) (int, <-chan outcome) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	done := make(chan outcome, 1)
	line["id"] = a.last
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if a.gone != nil {
		done <- outcome{err: a.gone}
		return a.last, done
	}
	a.answer[a.last] = done
	if _, err := a.stdin.Write(append(text, '\n')); err != nil {
		t.Fatalf("the agent takes no more calls: %v; it said:\n%s", err, a.said())
	}
	return a.last, done
}
