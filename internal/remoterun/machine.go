package remoterun

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// entry is one input of a machine, as it is stored: a line of a program, or what happened
// around it. Exactly one field is set, and with a line there may be a key.
type entry struct {
	Line *shoal.WorkLine `json:"line,omitempty"`
	// Key is that of the report whose last line this is.
	Key string `json:"key,omitempty"`
	// Call shows the call of the line that follows, which is new. Whether it may be shown has
	// to be known before its line is applied.
	Call   *shoal.WorkLine `json:"call,omitempty"`
	Space  *standing       `json:"space,omitempty"`
	Answer *answered       `json:"answer,omitempty"`
	// Read is a call whose answer a program that calls tools has got: if it asks the same once more, it
	// asks anew.
	Read string `json:"read,omitempty"`
	// Claim is the generation of another claim of the run.
	Claim int64 `json:"claim,omitempty"`
}

// standing answers a question of the composer about a space.
type standing struct {
	Space  shoal.SpaceID      `json:"space"`
	Target shoal.EntityID     `json:"target,omitempty"`
	Is     compose.Membership `json:"is"`
}

// answered is the answer to a request of a run.
type answered struct {
	CallID string         `json:"callId"`
	Kind   shoal.WorkType `json:"kind"`
	Order  shoal.Order    `json:"order"`
}

// call is a tool call of a run, as its program has reported it.
type call struct {
	shoal.RemoteCall
	kind    string
	space   shoal.SpaceID
	asked   bool // it has an open request
	read    bool // as [entry] says
	fixed   bool // its program takes no other arguments
	started *shoal.Time
	ended   *shoal.Time
	turn    int
}

// turn is one turn of a program: a step of the run.
type turn struct {
	began     shoal.Time
	ended     *shoal.Time
	model     string
	stop      string
	text      strings.Builder
	reasoning strings.Builder
	usage     shoal.Usage
	calls     []*call
}

// text is a text that a program writes, or has written.
type text struct {
	call    string // the id of its call; empty when it has ended
	space   shoal.SpaceID
	mention shoal.EntityID
	body    strings.Builder
	part    int // bytes in the current part
	broken  bool
}

// machine is what a run has done so far. It is a function of its entries: the same entries
// give the same machine, on any server, and the same effects. It does no I/O.
type machine struct {
	run      shoal.RunID
	trigger  shoal.SpaceID
	tools    []compose.Tool // the cards of the configuration
	composer *compose.Composer

	inTurn  bool
	turns   []*turn
	texts   []*text
	open    *text
	calls   map[string]*call
	order   []*call
	steered []shoal.RunID   // whose messages the model has
	size    int             // bytes of all lines
	parts   int             // texts so far
	keys    map[string]bool // of the reports so far

	end     *shoal.WorkLine // the line that ended the run
	thought []string        // the deltas of reasoning of the last input
}

// newMachine returns the machine of a run that has done nothing.
func newMachine(run shoal.RunID, trigger shoal.SpaceID, tools []compose.Tool) *machine {
	m := &machine{run: run, trigger: trigger, tools: tools, calls: map[string]*call{}, keys: map[string]bool{}}
	m.composer = compose.New(compose.Options{
		Run: run, Trigger: trigger, PlainResults: true, Tools: append([]compose.Tool{{Name: spacetool.SendTool, Send: true}, {Name: questionTool, Display: true}}, tools...),
	})
	return m
}

// questionTool is the name of the tool that questions show.
const questionTool = "ask_user"

// apply applies one entry that happened at a time. An error says why a line does not fit the
// run; the machine must not be used after it.
func (m *machine) apply(e entry, at shoal.Time) ([]compose.Effect, error) {
	m.thought = nil
	switch {
	case e.Line != nil:
		if e.Key != "" {
			m.keys[e.Key] = true
		}
		return m.applyLine(*e.Line, at)
	case e.Call != nil:
		return m.startCall(*e.Call)
	case e.Space != nil:
		return m.composer.SetMembership(e.Space.Space, e.Space.Target, e.Space.Is), nil
	case e.Answer != nil:
		return m.applyAnswer(*e.Answer, at), nil
	case e.Read != "":
		m.calls[e.Read].read = true
		return nil, nil
	case e.Claim != 0:
		return m.applyClaim(), nil
	}
	return nil, nil
}

func (m *machine) applyLine(l shoal.WorkLine, at shoal.Time) ([]compose.Effect, error) {
	bad := func(format string, args ...any) ([]compose.Effect, error) {
		return nil, lineError(l.N, format, args...)
	}
	if m.end != nil {
		return bad("comes after the end of the run")
	}
	m.size += len(l.Delta) + len(l.Args) + len(l.Output) + len(l.Text) + 64
	if m.size > shoal.MaxWorkRun {
		return bad("exceeds what can be reported about one run, %d bytes: end the turn", shoal.MaxWorkRun)
	}
	if l.Type == shoal.WorkTurnStarted {
		return nil, m.startTurn(l, at)
	}
	if l.Type == shoal.WorkReleased {
		return nil, nil // the next claim says what that means for the texts
	}
	if !m.inTurn && l.Type != shoal.WorkFailed {
		return bad("must follow a line of the type turn.started")
	}
	switch l.Type {
	case shoal.WorkText:
		return m.write(l)
	case shoal.WorkThought:
		m.thought = append(m.thought, l.Delta)
		m.turn().reasoning.WriteString(l.Delta)
		return nil, nil
	case shoal.WorkUsage:
		m.addUsage(l)
		return nil, nil
	case shoal.WorkSessionBegan:
		return nil, nil
	case shoal.WorkSteered:
		m.steered = append(m.steered, l.RunID)
		return m.endText(agent.ResultOK), nil
	case shoal.WorkTurnEnded, shoal.WorkFailed:
		return m.finish(l, at), nil
	default:
		return m.applyCall(l, at)
	}
}

// announces returns the entry that has to precede a line: that of a new call.
func (m *machine) announces(e entry) *entry {
	l := e.Line
	if l == nil || l.CallID == "" || !m.inTurn || m.end != nil || m.calls[l.CallID] != nil {
		return nil
	}
	return &entry{Call: l}
}

func (m *machine) turn() *turn { return m.turns[len(m.turns)-1] }

func (m *machine) startTurn(l shoal.WorkLine, at shoal.Time) error {
	if m.inTurn {
		return lineError(l.N, "begins a turn in a turn")
	}
	if len(m.turns) == shoal.MaxWorkTurns {
		return lineError(l.N, "begins more than %d turns of one run", shoal.MaxWorkTurns)
	}
	m.inTurn = true
	m.turns = append(m.turns, &turn{began: at, model: l.Model, usage: shoal.Usage{Currency: shoal.Currency}})
	return nil
}

func (m *machine) addUsage(l shoal.WorkLine) {
	u := shoal.Usage{Cost: l.Cost, Currency: shoal.Currency}
	if t := l.Tokens; t != nil {
		u.InputTokens, u.CachedInputTokens, u.OutputTokens, u.ReasoningTokens = t.Input, t.CachedInput, t.Output, t.Reasoning
	}
	in := m.turn()
	in.usage = in.usage.Add(u)
	if l.Model != "" {
		in.model = l.Model
	}
}

// usage returns what all turns used.
func (m *machine) usage() (sum shoal.Usage) {
	sum.Currency = shoal.Currency
	for _, t := range m.turns {
		sum = sum.Add(t.usage)
	}
	return sum
}

// write appends to the open text, or begins one.
func (m *machine) write(l shoal.WorkLine) (out []compose.Effect, err error) {
	space := l.SpaceID
	if space == "" {
		space = m.trigger
	}
	if space == "" {
		return nil, lineError(l.N, "must have a spaceId: no message started this run")
	}
	if m.open != nil && (m.open.space != space || m.open.mention != l.Mention) {
		out = m.endText(agent.ResultOK)
	}
	if l.Delta != "" {
		if m.open != nil && m.open.part+len(l.Delta) > shoal.MaxContent {
			out = append(out, m.endPart(agent.ResultOK)...)
		}
		if m.open == nil {
			m.open = &text{space: space, mention: l.Mention}
			m.texts = append(m.texts, m.open)
		}
		if m.open.call == "" {
			out = append(out, m.beginPart()...)
		}
		m.open.body.WriteString(l.Delta)
		m.open.part += len(l.Delta)
		m.turn().text.WriteString(l.Delta)
		out = append(out, m.composer.Apply(agent.ToolArgsDelta{CallID: m.open.call, Text: quoted(l.Delta)})...)
	}
	if l.End {
		out = append(out, m.endText(agent.ResultOK)...)
	}
	return out, nil
}

// beginPart begins a part of the open text, as a call of the tool that sends messages.
func (m *machine) beginPart() []compose.Effect {
	m.parts++
	m.open.call, m.open.part = textPrefix+strconv.Itoa(m.parts), 0
	out := m.composer.Apply(agent.ToolCallStarted{MessageID: m.source(), CallID: m.open.call, Name: spacetool.SendTool})
	head := `{"spaceId":"` + string(m.open.space) + `",`
	if m.open.mention != "" {
		head += `"mention":"` + string(m.open.mention) + `",`
	}
	return append(out, m.composer.Apply(agent.ToolArgsDelta{CallID: m.open.call, Text: head + `"text":"`})...)
}

// endText ends the open text, if there is one.
func (m *machine) endText(as agent.ResultStatus) []compose.Effect {
	if m.open == nil {
		return nil
	}
	out := m.endPart(as)
	m.open = nil
	return out
}

// endPart ends the current part of the open text. An interrupted one shows that it broke off.
func (m *machine) endPart(as agent.ResultStatus) (out []compose.Effect) {
	id := m.open.call
	if m.open.call = ""; id == "" {
		return nil
	}
	if as == agent.ResultOK {
		out = m.composer.Apply(agent.ToolArgsDelta{CallID: id, Text: `"}`})
		out = append(out, m.composer.Apply(agent.ToolCallEnded{Call: agent.ToolCall{ID: id, Name: spacetool.SendTool}})...)
	} else {
		m.open.broken = true
	}
	return append(out, m.composer.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: id, Name: spacetool.SendTool, Status: as}})...)
}

// quoted returns a text as a piece of a JSON string.
func quoted(s string) string {
	out, err := json.Marshal(s)
	if err != nil { // a string can always be encoded
		return ""
	}
	return string(out[1 : len(out)-1])
}

// applyClaim makes the run that of another claim: a text that was being written has broken
// off. Open requests and tool calls stay, for the next program.
func (m *machine) applyClaim() []compose.Effect {
	out := m.endText(agent.ResultInterrupted)
	m.inTurn = false
	return out
}

// finish ends the run.
func (m *machine) finish(l shoal.WorkLine, at shoal.Time) []compose.Effect {
	m.end = &l
	outcome := agent.Completed
	if l.Type == shoal.WorkFailed {
		outcome = agent.Failed
	}
	if n := len(m.turns); n > 0 && m.turns[n-1].ended == nil {
		m.turns[n-1].ended, m.turns[n-1].stop = &at, l.Stop
	}
	var out []compose.Effect
	if outcome == agent.Completed {
		out = m.endText(agent.ResultOK)
	}
	m.inTurn = false
	return append(out, m.composer.End(outcome)...)
}

// source is the id of the present turn, as the message of a model.
func (m *machine) source() string { return "turn/" + strconv.Itoa(len(m.turns)) }
