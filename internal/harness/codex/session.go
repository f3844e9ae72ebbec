// Package codex drives OpenAI's Codex through its app server: JSON-RPC over its input and output.
package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/jsonrpc"
	"github.com/shoal-dev/shoal/internal/harness/process"
)

// session is a thread of Codex.
type session struct {
	*process.Conversation
	peer *jsonrpc.Peer

	mu       sync.Mutex
	thread   string
	turn     string                     // the turn under way; empty until Codex has named it
	unwanted bool                       // the turn is to be interrupted as soon as it has a name
	prompted bool                       // Codex has the prompt of the turn
	unread   []string                   // the ids of messages that its model does not have yet
	items    map[string]item            // the calls of the turn
	asked    map[string]json.RawMessage // open requests for a permission, by call
}

// Start starts Codex, and a thread or the one to resume.
func Start(ctx context.Context, spec harness.Spec) (harness.Session, error) {
	proc, err := process.Converse(append(slices.Clone(spec.Command), "app-server"), spec.Dir, spec.EnvironWithKeys())
	if err != nil {
		return nil, err
	}
	s := &session{Conversation: proc, items: map[string]item{}, asked: map[string]json.RawMessage{}}
	s.peer = jsonrpc.New(proc.Stdin, "", s.receive)
	s.Read(s.peer.Read)
	if err := s.Open(func() error { return s.open(ctx, spec) }); err != nil {
		return nil, err
	}
	return s, nil
}

type params = map[string]any

func (s *session) open(ctx context.Context, spec harness.Spec) error {
	hello := params{
		"clientInfo":   params{"name": "shoal", "title": "Shoal", "version": "1"},
		"capabilities": params{"experimentalApi": true},
	}
	if err := s.peer.Call(ctx, "initialize", hello, nil); err != nil {
		return fmt.Errorf("initialize Codex: %w", err)
	}
	if err := s.peer.Notify("initialized", params{}); err != nil {
		return err
	}
	method, start := "thread/start", settings(spec)
	if spec.Resume != "" {
		method, start["threadId"] = "thread/resume", spec.Resume
		start["excludeTurns"] = true
	}
	var answer struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := s.peer.Call(ctx, method, start, &answer); err != nil {
		var refused *jsonrpc.Error
		if spec.Resume != "" && errors.As(err, &refused) {
			return fmt.Errorf("%w: %s", harness.ErrNoResume, refused.Message)
		}
		return fmt.Errorf("start a thread of Codex: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thread = answer.Thread.ID
	return nil
}

// settings are those of a thread. Its sandbox keeps what the mode promises, whatever is answered.
func settings(spec harness.Spec) params {
	p := params{"cwd": spec.Dir, "approvalPolicy": "on-request", "sandbox": "read-only"}
	switch spec.Mode {
	case harness.ModeRead:
		p["approvalPolicy"] = "never"
	case harness.ModeEdit:
		p["sandbox"] = "workspace-write"
	case harness.ModeAsk:
	}
	if spec.Model != "" {
		p["model"] = spec.Model
	}
	if len(spec.Servers) > 0 {
		servers := params{}
		for i, server := range spec.Servers {
			servers[server.Name] = params{"url": server.URL, "bearer_token_env_var": harness.KeyVariable(i)}
		}
		p["config"] = params{"mcp_servers": servers}
	}
	return p
}

// receive handles a message of Codex.
func (s *session) receive(m jsonrpc.Message) {
	if m.ID != nil {
		s.request(m)
		return
	}
	var n notification
	if json.Unmarshal(m.Params, &n) != nil || n.ThreadID != s.Ref() {
		return
	}
	s.mu.Lock()
	unwanted, read := false, ""
	switch m.Method {
	case "turn/started":
		s.turn = n.Turn.ID
		unwanted, s.unwanted = s.unwanted, false
	case "item/started":
		s.items[n.Item.ID] = n.Item
		if n.Item.Type == "userMessage" {
			read = s.readNext()
		}
	case "turn/completed":
		s.turn, s.prompted, s.unread = "", false, nil
		clear(s.items)
		clear(s.asked)
	}
	s.mu.Unlock()
	if unwanted {
		s.interrupt()
	}
	if read != "" {
		s.Turns.Emit(harness.Steered{ID: read})
	}
	if e := decode(m.Method, n); e != nil {
		s.Turns.Emit(e)
	}
}

// readNext returns the id of the message that the model has now, or "" for the prompt. It must be
// called with mu held.
func (s *session) readNext() (id string) {
	if !s.prompted || len(s.unread) == 0 {
		s.prompted = true
		return ""
	}
	id, s.unread = s.unread[0], s.unread[1:]
	return id
}

// request handles a request of Codex. Whatever is not a permission is refused, and Codex goes on
// without it.
func (s *session) request(m jsonrpc.Message) {
	var asked struct {
		ThreadID string `json:"threadId"`
		ItemID   string `json:"itemId"`
		Reason   string `json:"reason"`
		Command  string `json:"command"`
		Cwd      string `json:"cwd"`
	}
	switch m.Method {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
	default:
		_ = s.peer.Refuse(m.ID, jsonrpc.MethodNotFound, "This client does not answer "+m.Method+".") // Codex may have ended
		return
	}
	if json.Unmarshal(m.Params, &asked) != nil || asked.ItemID == "" || !s.Turns.Open() {
		_ = s.peer.Respond(m.ID, params{"decision": "cancel"})
		return
	}
	s.mu.Lock()
	s.asked[asked.ItemID] = m.ID
	call, _ := s.items[asked.ItemID].call()
	s.mu.Unlock()
	p := harness.Permission{CallID: asked.ItemID, Name: call.Name, Title: call.Title, Args: call.Args, Text: asked.Reason}
	if asked.Command != "" { // what will be executed is what counts
		p.Name, p.Title, p.Args = "shell", asked.Command, object("command", asked.Command, "cwd", asked.Cwd)
	}
	s.Turns.Emit(p)
}

func (s *session) Turn(ctx context.Context, prompt string) iter.Seq2[harness.Event, error] {
	return s.Conversation.Turn(ctx, func() error {
		return s.peer.Go("turn/start", params{"threadId": s.Ref(), "input": input(prompt)}, func(_ json.RawMessage, err error) {
			if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
				s.Turns.Emit(harness.Ended{Stop: harness.StopFailed, Text: refused.Message})
			}
		})
	}, s.interrupt)
}

func input(text string) []params { return []params{{"type": "text", "text": text}} }

// interrupt asks Codex to end the turn.
func (s *session) interrupt() {
	s.mu.Lock()
	thread, turn := s.thread, s.turn
	s.unwanted = turn == ""
	s.mu.Unlock()
	if turn != "" {
		_ = s.peer.Go("turn/interrupt", params{"threadId": thread, "turnId": turn}, func(json.RawMessage, error) {}) // the turn may have ended
	}
}

func (s *session) Steer(ctx context.Context, id, text string) error {
	s.mu.Lock()
	turn := s.turn
	if turn != "" {
		s.unread = append(s.unread, id) // Codex may report it before it answers
	}
	s.mu.Unlock()
	if turn == "" {
		return harness.ErrIdle
	}
	err := s.peer.Call(ctx, "turn/steer", params{"threadId": s.Ref(), "expectedTurnId": turn, "input": input(text)}, nil)
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
		s.mu.Lock()
		s.unread = slices.DeleteFunc(s.unread, func(other string) bool { return other == id })
		ended := s.turn != turn
		s.mu.Unlock()
		if ended {
			return harness.ErrIdle
		}
	}
	return err
}

// Answer answers a request. Codex has no words for a reason; its model reads that it was declined.
func (s *session) Answer(_ context.Context, callID string, v harness.Verdict) error {
	s.mu.Lock()
	id, ok := s.asked[callID]
	delete(s.asked, callID)
	s.mu.Unlock()
	if !ok {
		return harness.ErrNotAsked
	}
	decision := "decline"
	if v.Approved {
		decision = "accept"
	}
	return s.peer.Respond(id, params{"decision": decision})
}

// Ref is the id of the thread.
func (s *session) Ref() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thread
}
