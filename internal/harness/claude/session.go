// Package claude drives Anthropic's Claude Code through lines of JSON on its input and output.
package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/process"
)

// writing are the tools that change or execute something.
var writing = []string{"Bash", "Edit", "MultiEdit", "Write", "NotebookEdit"}

// session is a conversation with Claude Code.
type session struct {
	*process.Conversation
	ready chan struct{} // closed when it has answered that it has started

	writing sync.Mutex

	mu          sync.Mutex
	ref         string
	last        int // number of the last control request of ours
	interrupted bool
	taking      bool               // a turn is under way, and takes messages
	unread      []string           // the ids of messages that its model does not have yet; "" for a prompt
	asked       map[string]request // open requests for a permission, by call

	lines decoder // only the goroutine that reads uses it
}

// request is a permission request that waits for its answer.
type request struct {
	id    string
	input json.RawMessage
}

// Start starts Claude Code, with the conversation to resume if there is one.
func Start(ctx context.Context, spec harness.Spec) (harness.Session, error) {
	command, err := commandLine(spec)
	if err != nil {
		return nil, err
	}
	proc, err := process.Converse(command, spec.Dir, spec.EnvironWithKeys())
	if err != nil {
		return nil, err
	}
	s := &session{Conversation: proc, ref: spec.Resume, ready: make(chan struct{}), asked: map[string]request{}}
	s.Read(s.handle)
	if err := s.Open(func() error { return s.open(ctx) }); err != nil {
		if exit := (*harness.ExitError)(nil); errors.As(err, &exit) && strings.Contains(exit.Stderr, "No conversation found") {
			return nil, fmt.Errorf("%w: %s", harness.ErrNoResume, strings.TrimSpace(exit.Stderr))
		}
		return nil, err
	}
	return s, nil
}

func commandLine(spec harness.Spec) (command []string, err error) {
	command = append(command, spec.Command...)
	command = append(command, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio", "--strict-mcp-config")
	switch spec.Mode {
	case harness.ModeRead:
		command = append(command, "--permission-mode", "default", "--disallowedTools", strings.Join(writing, ","))
	case harness.ModeEdit:
		command = append(command, "--permission-mode", "acceptEdits")
	case harness.ModeAsk:
		command = append(command, "--permission-mode", "default")
	}
	if spec.Model != "" {
		command = append(command, "--model", spec.Model)
	}
	if spec.Resume != "" {
		command = append(command, "--resume", spec.Resume)
	}
	if len(spec.Servers) > 0 {
		servers := map[string]any{}
		var names []string
		for i, server := range spec.Servers {
			servers[server.Name] = map[string]any{
				"type": "http", "url": server.URL, "headers": map[string]string{"Authorization": "Bearer ${" + harness.KeyVariable(i) + "}"},
			}
			names = append(names, "mcp__"+server.Name)
		}
		text, err := json.Marshal(map[string]any{"mcpServers": servers})
		if err != nil {
			return nil, fmt.Errorf("encode the MCP servers: %w", err)
		}
		command = append(command, "--mcp-config", string(text), "--allowedTools", strings.Join(names, ","))
	}
	return command, nil
}

// open waits until Claude Code answers.
func (s *session) open(ctx context.Context) error {
	if err := s.control(map[string]any{"subtype": "initialize"}); err != nil {
		return err
	}
	select {
	case <-s.ready:
		return nil
	case <-s.Done():
		return harness.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handle handles the output of the process until its end.
func (s *session) handle(out io.Reader) error {
	return harness.ReadLines(out, func(text []byte) {
		var l line
		if json.Unmarshal(text, &l) == nil {
			s.receive(l)
		}
	})
}

func (s *session) receive(l line) {
	if l.SessionID != "" && l.Type == "system" {
		s.mu.Lock()
		s.ref = l.SessionID
		s.mu.Unlock()
	}
	switch {
	case l.Type == "control_response":
		select {
		case <-s.ready:
		default:
			close(s.ready)
		}
	case l.Type == "control_request" && l.Request.Subtype == "can_use_tool":
		s.permission(l)
	case l.Type == "control_request":
		_ = s.respond(l.RequestID, "error", "error", "This client does not answer "+l.Request.Subtype+".") // it may have ended
	case l.Type == "user" && l.IsReplay:
		s.read()
	case l.Type == "result":
		s.result(l)
	default:
		for _, e := range s.lines.decode(l) {
			s.Turns.Emit(e)
		}
	}
}

// read notes that the model has the next message.
func (s *session) read() {
	s.mu.Lock()
	id := ""
	if len(s.unread) > 0 {
		id, s.unread = s.unread[0], s.unread[1:]
	}
	s.mu.Unlock()
	if id != "" {
		s.Turns.Emit(harness.Steered{ID: id})
	}
}

// result ends the turn, unless a message waits that came too late for it: Claude Code goes on with
// that by itself, and both are one turn here.
func (s *session) result(l line) {
	s.mu.Lock()
	interrupted := s.interrupted
	goesOn := len(s.unread) > 0 && !interrupted
	if !goesOn {
		s.interrupted, s.taking, s.unread = false, false, nil
		clear(s.asked)
	}
	s.mu.Unlock()
	events := s.lines.result(l, interrupted)
	if goesOn {
		events = events[:1]
	}
	for _, e := range events {
		s.Turns.Emit(e)
	}
}

func (s *session) permission(l line) {
	if !s.Turns.Open() {
		_ = s.respond(l.RequestID, "success", "response", map[string]any{"behavior": "deny", "message": "The turn has ended."})
		return
	}
	s.mu.Lock()
	s.asked[l.Request.ToolUseID] = request{l.RequestID, l.Request.Input}
	s.mu.Unlock()
	s.Turns.Emit(harness.Permission{
		CallID: l.Request.ToolUseID, Name: l.Request.ToolName, Title: title(l.Request.ToolName, l.Request.Input),
		Args: l.Request.Input, Text: l.Request.Description,
	})
}

func (s *session) Turn(ctx context.Context, prompt string) iter.Seq2[harness.Event, error] {
	return s.Conversation.Turn(ctx, func() error {
		s.mu.Lock()
		s.taking, s.unread = true, append(s.unread, "")
		s.mu.Unlock()
		return s.say(prompt)
	}, s.interrupt)
}

// say sends a message of the user.
func (s *session) say(text string) error {
	content := []map[string]string{{"type": "text", "text": text}}
	return s.write(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": content}, "parent_tool_use_id": nil, "session_id": "",
	})
}

// interrupt asks Claude Code to end the turn.
func (s *session) interrupt() {
	s.mu.Lock()
	s.interrupted = true
	s.mu.Unlock()
	_ = s.control(map[string]any{"subtype": "interrupt"}) // it may have ended
}

// Steer counts the message before it is sent, so that the turn does not end without it.
func (s *session) Steer(_ context.Context, id, text string) error {
	s.mu.Lock()
	taking := s.taking && !s.interrupted
	if taking {
		s.unread = append(s.unread, id)
	}
	s.mu.Unlock()
	if !taking || !s.Turns.Open() {
		return harness.ErrIdle
	}
	return s.say(text)
}

func (s *session) Answer(_ context.Context, callID string, v harness.Verdict) error {
	s.mu.Lock()
	r, ok := s.asked[callID]
	delete(s.asked, callID)
	s.mu.Unlock()
	if !ok {
		return harness.ErrNotAsked
	}
	answer := map[string]any{"behavior": "allow", "updatedInput": r.input}
	if !v.Approved {
		answer = map[string]any{"behavior": "deny", "message": v.Reason}
	}
	return s.respond(r.id, "success", "response", answer)
}

func (s *session) control(request map[string]any) error {
	s.mu.Lock()
	s.last++
	id := fmt.Sprintf("shoal-%d", s.last)
	s.mu.Unlock()
	return s.write(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

func (s *session) respond(id, subtype, field string, value any) error {
	return s.write(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": subtype, "request_id": id, field: value},
	})
}

func (s *session) write(message map[string]any) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return harness.WriteLine(s.Stdin, message)
}

func (s *session) Ref() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ref
}
