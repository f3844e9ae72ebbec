package coder

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// process is one process of the agent.
type process struct {
	coder      *Coder
	conn       net.Conn
	pid, child int
	gone       chan struct{} // closed when it has ended
	turns      sync.WaitGroup

	mu     sync.Mutex
	asked  map[string]chan bool // permissions, by the ids of their requests
	turn   *Turn                // in progress
	number int
	server Server
	// sent and written count the lines for the runner, and passed is closed when another is written.
	sent, written int
	passed        chan struct{}
}

// Server is the MCP server that the agent was given with its session.
type Server struct{ URL, Key string }

// Turn is a turn of the agent. After the end of its process, and after an interruption, its methods
// do nothing.
type Turn struct {
	Prompt
	// Ends is called when the end of the turn has been sent; nil for nothing.
	Ends func()

	process  *process
	canceled chan struct{}
}

type object = map[string]any

func (p *process) receive(m message) {
	var params struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
		Servers []struct {
			URL     string `json:"url"`
			Headers []struct {
				Value string `json:"value"`
			} `json:"headers"`
		} `json:"mcpServers"`
	}
	_ = json.Unmarshal(m.Params, &params) // others have none of these
	for _, server := range params.Servers {
		p.mu.Lock()
		p.server = Server{URL: server.URL, Key: strings.TrimPrefix(server.Headers[0].Value, "Bearer ")}
		p.mu.Unlock()
	}
	switch m.Method {
	case "":
		p.answered(m)
	case "initialize":
		p.respond(m, object{"protocolVersion": 1, "agentCapabilities": object{"sessionCapabilities": object{"resume": object{}}}})
	case "session/new":
		p.respond(m, object{"sessionId": p.coder.session()})
	case "session/prompt":
		prompt := Prompt{Session: params.SessionID}
		for _, part := range params.Prompt {
			prompt.Text += part.Text
		}
		p.begin(m, prompt)
	case "session/cancel":
		p.cancel()
	default: // session/resume finds every session
		p.respond(m, object{})
	}
}

func (p *process) begin(m message, prompt Prompt) {
	t := &Turn{Prompt: prompt, process: p, canceled: make(chan struct{})}
	p.coder.mu.Lock()
	p.coder.prompts = append(p.coder.prompts, prompt)
	p.coder.mu.Unlock()
	p.mu.Lock()
	p.turn = t
	p.mu.Unlock()
	p.turns.Go(func() {
		p.coder.play(t)
		stop := "end_turn"
		select {
		case <-t.canceled:
			stop = "cancelled"
		default:
		}
		p.wait(p.respond(m, object{"stopReason": stop}))
		if t.Ends != nil {
			t.Ends()
		}
	})
}

func (p *process) cancel() {
	p.coder.mu.Lock()
	p.coder.interrupt++
	p.coder.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn != nil {
		close(p.turn.canceled)
		p.turn = nil
	}
}

// answered passes on the answer to a permission.
func (p *process) answered(m message) {
	var result struct {
		Outcome struct {
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(m.Result, &result) // then it was not approved
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.asked[string(m.ID)]; wait != nil {
		wait <- result.Outcome.OptionID == "yes"
		delete(p.asked, string(m.ID))
	}
}

func (p *process) respond(to message, result object) (n int) {
	return p.write(object{"jsonrpc": "2.0", "id": to.ID, "result": result})
}

// write sends a line for the runner, and returns its number.
func (p *process) write(m object) (n int) {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it is made of strings
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.conn.Write(append(text, '\n')) // it may have ended
	p.sent++
	return p.sent
}

// pass notes that the process has written a line.
func (p *process) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written++
	close(p.passed)
	p.passed = make(chan struct{})
}

// wait waits until the process has written a line, or has ended.
func (p *process) wait(n int) {
	for {
		p.mu.Lock()
		written, passed := p.written, p.passed
		p.mu.Unlock()
		if written >= n {
			return
		}
		select {
		case <-passed:
		case <-p.gone:
			return
		}
	}
}

func (t *Turn) update(u object) {
	t.process.wait(t.process.write(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": t.Session, "update": u}}))
}

// Say says a part of the answer.
func (t *Turn) Say(text string) {
	t.update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}})
}

// Call shows a call of the tool execute.
func (t *Turn) Call(id, command string) {
	t.update(object{"sessionUpdate": "tool_call", "toolCallId": id, "title": command, "kind": "execute", "status": "pending", "rawInput": object{"command": command}})
}

// Do shows how far a call is: in_progress, completed or failed.
func (t *Turn) Do(id, status string) {
	t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status})
}

// Ask asks for the permission of a call. The channel receives whether it was given.
func (t *Turn) Ask(id, command string) <-chan bool {
	p, wait := t.process, make(chan bool, 1)
	p.mu.Lock()
	p.number++
	request := fmt.Sprint(p.number)
	p.asked[request] = wait
	p.mu.Unlock()
	p.wait(p.write(object{"jsonrpc": "2.0", "id": json.RawMessage(request), "method": "session/request_permission", "params": object{
		"sessionId": t.Session, "toolCall": object{"toolCallId": id, "title": command, "kind": "execute", "rawInput": object{"command": command}},
		"options": []object{{"optionId": "yes", "kind": "allow_once", "name": "Yes"}, {"optionId": "no", "kind": "reject_once", "name": "No"}},
	}}))
	return wait
}

// Server is the MCP server of the session.
func (t *Turn) Server() Server {
	t.process.mu.Lock()
	defer t.process.mu.Unlock()
	return t.process.server
}

// Over is closed when the process of the turn has ended.
func (t *Turn) Over() <-chan struct{} { return t.process.gone }

// Interrupted is closed when the agent was asked to end the turn.
func (t *Turn) Interrupted() <-chan struct{} { return t.canceled }

// Kill kills the process of the agent, without its child, and waits for its end.
func (t *Turn) Kill() {
	if found, err := os.FindProcess(t.process.pid); err == nil {
		_ = found.Kill() // it may have ended
	}
	<-t.process.gone
}
