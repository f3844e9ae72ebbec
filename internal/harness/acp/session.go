// Package acp drives coding agents that speak the Agent Client Protocol, version 1, over their
// input and output: Gemini CLI, OpenCode, and adapters for others.
// https://agentclientprotocol.com describes it.
package acp

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

// protocolVersion is the version of the protocol that this driver speaks.
const protocolVersion = 1

// authRequired is the code with which an agent refuses a session before a login.
const authRequired = -32000

// session is a session of an agent.
type session struct {
	*process.Conversation
	peer *jsonrpc.Peer

	mu    sync.Mutex
	id    string
	asked map[string]request // open requests for a permission, by call
	// approved are the arguments with which calls of the turn were approved.
	approved map[string]json.RawMessage

	updates decoder // only the goroutine that reads uses it
}

// request is a permission request that waits for its answer.
type request struct {
	id      json.RawMessage
	options []option
	args    json.RawMessage // nil if the agent gave none
}

// option is an answer that the agent accepts.
type option struct {
	OptionID string `json:"optionId"`
	Kind     string `json:"kind"`
}

// initialized is what the agent says about itself.
type initialized struct {
	ProtocolVersion   int `json:"protocolVersion"`
	AgentCapabilities struct {
		LoadSession         bool `json:"loadSession"`
		SessionCapabilities struct {
			Resume json.RawMessage `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"authMethods"`
}

// opened is the answer to the calls that open a session.
type opened struct {
	SessionID string `json:"sessionId"`
	Modes     struct {
		CurrentModeID  string `json:"currentModeId"`
		AvailableModes []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	// ConfigOptions are the newer form of modes and models.
	ConfigOptions []configOption `json:"configOptions"`
}

// configOption is a setting of a session.
type configOption struct {
	ID           string `json:"id"`
	Category     string `json:"category"`
	CurrentValue any    `json:"currentValue"`
	Options      []struct {
		Value string `json:"value"`
	} `json:"options"`
}

// option returns the setting of a category.
func (o opened) option(category string) (c configOption, found bool) {
	i := slices.IndexFunc(o.ConfigOptions, func(c configOption) bool { return c.Category == category })
	if i < 0 {
		return c, false
	}
	return o.ConfigOptions[i], true
}

// Start starts an agent, and a session or the one to resume. The arguments that make the program
// speak the protocol are part of the command.
func Start(ctx context.Context, spec harness.Spec) (harness.Session, error) {
	proc, err := process.Converse(spec.Command, spec.Dir, spec.Env)
	if err != nil {
		return nil, err
	}
	s := &session{Conversation: proc, asked: map[string]request{}, approved: map[string]json.RawMessage{}}
	s.peer = jsonrpc.New(proc.Stdin, "2.0", s.receive)
	s.Read(s.peer.Read)
	if err := s.Open(func() error { return s.open(ctx, spec) }); err != nil {
		return nil, err
	}
	return s, nil
}

type params = map[string]any

func (s *session) open(ctx context.Context, spec harness.Spec) error {
	var agent initialized
	hello := params{
		"protocolVersion":    protocolVersion,
		"clientCapabilities": params{"fs": params{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         params{"name": "shoal", "title": "Shoal", "version": "1"},
	}
	if err := s.peer.Call(ctx, "initialize", hello, &agent); err != nil {
		return fmt.Errorf("initialize the agent: %w", err)
	}
	if agent.ProtocolVersion != protocolVersion {
		return fmt.Errorf("the agent speaks version %d of the protocol, and this program %d", agent.ProtocolVersion, protocolVersion)
	}
	session, err := s.begin(ctx, spec, agent)
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) && refused.Code == authRequired {
		if err = s.authenticate(ctx, agent); err == nil {
			session, err = s.begin(ctx, spec, agent)
		}
	}
	if err != nil {
		return err
	}
	id := session.SessionID
	if id == "" {
		id = spec.Resume
	}
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
	if err := s.setMode(ctx, session, spec.Mode); err != nil {
		return err
	}
	if spec.Model == "" {
		return nil
	}
	if model, ok := session.option("model"); ok {
		return s.configure(ctx, model, spec.Model)
	}
	if err := s.peer.Call(ctx, "session/set_model", params{"sessionId": id, "modelId": spec.Model}, nil); err != nil {
		return fmt.Errorf("choose the model %s: %w", spec.Model, err)
	}
	return nil
}

// configure sets a setting of the session.
func (s *session) configure(ctx context.Context, c configOption, value string) error {
	if c.CurrentValue == value {
		return nil
	}
	if err := s.peer.Call(ctx, "session/set_config_option", params{"sessionId": s.Ref(), "configId": c.ID, "value": value}, nil); err != nil {
		return fmt.Errorf("choose the %s %s: %w", c.Category, value, err)
	}
	return nil
}

// begin opens a new session, or the one to resume.
func (s *session) begin(ctx context.Context, spec harness.Spec, agent initialized) (o opened, err error) {
	servers := []params{}
	for _, server := range spec.Servers {
		headers := []params{{"name": "Authorization", "value": "Bearer " + server.Key}}
		servers = append(servers, params{"type": "http", "name": server.Name, "url": server.URL, "headers": headers})
	}
	p := params{"cwd": spec.Dir, "mcpServers": servers}
	if spec.Resume == "" {
		if err := s.peer.Call(ctx, "session/new", p, &o); err != nil {
			return o, fmt.Errorf("open a session: %w", err)
		}
		return o, nil
	}
	p["sessionId"] = spec.Resume
	switch can := agent.AgentCapabilities; {
	case len(can.SessionCapabilities.Resume) > 0 && string(can.SessionCapabilities.Resume) != "null":
		err = s.peer.Call(ctx, "session/resume", p, &o)
	case can.LoadSession:
		err = s.peer.Call(ctx, "session/load", p, &o)
	default:
		return o, harness.ErrNoResume
	}
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) && refused.Code != authRequired {
		return o, fmt.Errorf("%w: %s", harness.ErrNoResume, refused.Message)
	}
	return o, err
}

// authenticate tries the ways of logging in that need no person.
func (s *session) authenticate(ctx context.Context, agent initialized) error {
	for _, method := range agent.AuthMethods {
		if slices.Contains([]string{"gemini-api-key", "api-key", "openai-api-key", "codex-api-key"}, method.ID) {
			if err := s.peer.Call(ctx, "authenticate", params{"methodId": method.ID}, nil); err == nil {
				return nil
			}
		}
	}
	return errors.New("the agent wants a login: start it once by hand in the same directory and log in, or set its API key")
}

// modes are the names that agents have for a mode.
var modes = map[harness.Mode][]string{
	harness.ModeRead: {"plan", "read-only", "readonly", "read"},
	harness.ModeAsk:  {"default", "ask", "normal"},
	harness.ModeEdit: {"acceptEdits", "autoEdit", "auto-edit", "edit"},
}

// setMode chooses the agent's mode. An agent without one that only reads cannot keep that promise;
// one without a mode that edits asks instead.
func (s *session) setMode(ctx context.Context, o opened, mode harness.Mode) error {
	for _, m := range o.Modes.AvailableModes {
		if !slices.Contains(modes[mode], m.ID) {
			continue
		}
		if m.ID == o.Modes.CurrentModeID {
			return nil
		}
		if err := s.peer.Call(ctx, "session/set_mode", params{"sessionId": s.Ref(), "modeId": m.ID}, nil); err != nil {
			return fmt.Errorf("choose the mode %s: %w", m.ID, err)
		}
		return nil
	}
	if c, ok := o.option("mode"); ok {
		for _, value := range c.Options {
			if slices.Contains(modes[mode], value.Value) {
				return s.configure(ctx, c, value.Value)
			}
		}
	}
	if mode == harness.ModeRead {
		return harness.ErrNoMode
	}
	return nil
}

// receive handles a message of the agent.
func (s *session) receive(m jsonrpc.Message) {
	switch m.Method {
	case "session/update":
		var n struct {
			SessionID string `json:"sessionId"`
			Update    update `json:"update"`
		}
		if json.Unmarshal(m.Params, &n) != nil || n.SessionID != s.Ref() || !s.Turns.Open() {
			return
		}
		for _, e := range s.updates.decode(n.Update) {
			s.Turns.Emit(e)
		}
	case "session/request_permission":
		s.permission(m)
	default:
		if m.ID != nil {
			_ = s.peer.Refuse(m.ID, jsonrpc.MethodNotFound, "This client does not answer "+m.Method+".") // the agent may have ended
		}
	}
}

func (s *session) permission(m jsonrpc.Message) {
	var asked struct {
		Options  []option `json:"options"`
		ToolCall struct {
			toolCall
			Content json.RawMessage `json:"content"`
		} `json:"toolCall"`
	}
	call := &asked.ToolCall
	if json.Unmarshal(m.Params, &asked) != nil || call.ToolCallID == "" || !s.Turns.Open() {
		_ = s.peer.Respond(m.ID, canceled())
		return
	}
	r := request{m.ID, asked.Options, call.args()}
	s.mu.Lock()
	// An agent may ask twice about one call: whether it may leave the directory, and whether it may
	// execute the command. Who has approved the first has seen all that the second shows.
	again := harness.Covers(s.approved[call.ToolCallID], r.args)
	if !again {
		s.asked[call.ToolCallID] = r
	}
	s.mu.Unlock()
	if again {
		_ = s.decide(r, true) // without this option it is canceled
		return
	}
	s.Turns.Emit(harness.Permission{CallID: call.ToolCallID, Name: call.Kind, Title: call.Title, Args: r.args, Text: texts(call.Content)})
}

func canceled() params { return params{"outcome": params{"outcome": "cancelled"}} }

func (s *session) Turn(ctx context.Context, prompt string) iter.Seq2[harness.Event, error] {
	return s.Conversation.Turn(ctx, func() error {
		blocks := []params{{"type": "text", "text": prompt}}
		return s.peer.Go("session/prompt", params{"sessionId": s.Ref(), "prompt": blocks}, s.ended)
	}, s.interrupt)
}

// ended handles the answer to a prompt.
func (s *session) ended(raw json.RawMessage, err error) {
	var r promptResult
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if errors.Is(err, harness.ErrClosed) {
		return // the turn ends with the process
	}
	s.mu.Lock()
	clear(s.asked)
	clear(s.approved)
	s.mu.Unlock()
	events := s.updates.result(r)
	if err != nil {
		events = []harness.Event{harness.Ended{Stop: harness.StopFailed, Text: err.Error()}}
	}
	for _, e := range events {
		s.Turns.Emit(e)
	}
}

// interrupt asks the agent to end the turn. The protocol wants open requests answered as canceled.
func (s *session) interrupt() {
	_ = s.peer.Notify("session/cancel", params{"sessionId": s.Ref()}) // the agent may have ended
	s.mu.Lock()
	open := s.asked
	s.asked = map[string]request{}
	s.mu.Unlock()
	for _, r := range open {
		_ = s.peer.Respond(r.id, canceled())
	}
}

// Steer is not part of the protocol, and a second prompt ends the first in some agents.
func (s *session) Steer(context.Context, string, string) error { return harness.ErrNoSteer }

// Answer chooses an option by its kind: one that holds for this call alone. The protocol has no
// words for a reason.
func (s *session) Answer(_ context.Context, callID string, v harness.Verdict) error {
	s.mu.Lock()
	r, ok := s.asked[callID]
	delete(s.asked, callID)
	if ok && v.Approved {
		s.approved[callID] = r.args
	}
	s.mu.Unlock()
	if !ok {
		return harness.ErrNotAsked
	}
	return s.decide(r, v.Approved)
}

// decide answers a request.
func (s *session) decide(r request, approved bool) error {
	kind := "reject_once"
	if approved {
		kind = "allow_once"
	}
	i := slices.IndexFunc(r.options, func(o option) bool { return o.Kind == kind })
	if i < 0 {
		err := s.peer.Respond(r.id, canceled())
		return errors.Join(fmt.Errorf("the agent offers no answer of the kind %s for this call", kind), err)
	}
	return s.peer.Respond(r.id, params{"outcome": params{"outcome": "selected", "optionId": r.options[i].OptionID}})
}

func (s *session) Ref() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}
