package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// callStage is the state of a call.
type callStage int

const (
	callNew       callStage = iota // not checked yet
	callAsking                     // waits for a permission
	callReady                      // may start
	callRunning                    // its tool runs
	callExternal                   // the client executes it
	callSuspended                  // its tool waits for an answer itself (a sub-agent)
	callDone                       // has its result
)

// callState is one call of the open step.
type callState struct {
	call   ToolCall
	tool   *boundTool
	stage  callStage
	result ToolResult
	end    toolEnd
	shown  bool
	// granted means that a person has permitted it.
	granted bool
	// repeated means that the result was stored when the turn was resumed.
	repeated bool
	// edited are the arguments that it runs with in place of the model's, if any.
	edited, editedBy string
	// transferredTo is the agent that the call transfers the conversation to.
	transferredTo string
}

// toolEnd is what is reported about the end of a call besides its result. requests are
// those of a tool that has to wait itself; then there is no result yet.
type toolEnd struct {
	duration time.Duration
	err      error
	requests []Pending
}

// verdict is the decision of rules and hooks about a call before a person is asked.
type verdict struct {
	blocked *ToolResult
	choice  PermissionRule
}

// openCalls creates the states of the assistant message's calls and sets the results
// of those that can never run.
func (m *machine) openCalls() {
	calls := m.step.Assistant.Calls()
	m.open = make([]callState, len(calls))
	for i, c := range calls {
		m.callIDs[c.ID] = true
		m.open[i] = callState{call: c, tool: m.rules.specs[c.Name]}
		for _, p := range m.step.Pending { // of a resumed step
			if p.Kind == Permission && p.Via == "" && p.Call.ID == c.ID && p.Answer != nil && p.Answer.Approved {
				m.open[i].edit(p.Answer)
			}
		}
	}
}

// knowCalls records the ids of earlier calls, so that ids are unique in the
// conversation and not only in the turn: some models count from one each time.
func (m *machine) knowCalls(history []Message) {
	for i := range history {
		for _, p := range history[i].Parts {
			if p.Type == CallPart {
				m.callIDs[p.Call.ID] = true
			}
		}
	}
}

// decided reports the decisions of rules and hooks, by call id.
func (m *machine) decided(verdicts map[string]verdict) {
	if m.stopped || m.phase != phaseDecide {
		return
	}
	m.phase = phaseCalls
	if m.closeCalls() || m.stopsHere() {
		return
	}
	for i := range m.open {
		c := &m.open[i]
		v := verdicts[c.call.ID]
		switch {
		case c.stage != callNew: // of a resumed step
		case c.tool == nil:
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
		case v.blocked != nil:
			m.settle(c, v.blocked.Status, v.blocked.Text)
		default:
			m.admit(c, v.choice)
		}
	}
	m.dismiss()
	m.show()
}

// undecided returns the calls that may run if decided permits it.
func (m *machine) undecided() []ToolCall {
	var out []ToolCall
	for i := range m.open {
		if c := &m.open[i]; c.stage == callNew {
			out = append(out, c.effective())
		}
	}
	return out
}

// stopsHere applies the rules that end the turn before any tool runs.
func (m *machine) stopsHere() bool {
	o := m.rules.opts
	for i := range m.open {
		c := &m.open[i]
		if c.stage != callNew {
			continue
		}
		if m.goesInCircles(i) {
			return true
		}
	}
	for i := range m.open {
		if c := &m.open[i]; c.stage == callNew && c.tool == nil && o.StopOnUnknownTool {
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
			m.stop(ReasonUnknownTool, fmt.Sprintf("The model called the tool %q, which is not there.", c.call.Name))
			return true
		}
	}
	return false
}

// stop ends the turn with this step; its remaining calls do not run.
func (m *machine) stop(reason Reason, message string) {
	for i := range m.open {
		m.settle(&m.open[i], ResultSkipped, "Error: not executed, because the turn ended.")
	}
	m.end = &ending{outcome: Failed, reason: reason, message: message}
	m.stopped = true
}

func (m *machine) unknown(name string) string {
	return fmt.Sprintf("Error: there is no tool '%s'. The tools are: %s.", name, m.rules.names)
}

// goesInCircles reports whether the turn ends because the call with that index repeats
// one that was already refused as a repetition. It refuses the call if it was made too
// often with the same result.
func (m *machine) goesInCircles(i int) bool {
	most, c := m.rules.opts.MaxIdenticalCalls, &m.open[i]
	if most <= 0 || c.tool != nil && c.tool.spec.Repeatable {
		return false
	}
	r, n := m.repeats[c.call.Name], 1
	if !r.is(c.call) {
		r = repeat{}
	}
	for _, other := range m.open[:i] { // their results are not known yet
		if other.call.Name == c.call.Name && sameArguments(other.call.Arguments, c.call.Arguments) {
			n++
		}
	}
	if n += r.count; n < most {
		return false
	}
	if r.refused {
		m.stop(ReasonIdenticalCalls, fmt.Sprintf("The model called %s %d times in a row with the same arguments, although the result was the same.", c.call.Name, n+1))
		return true
	}
	m.settle(c, ResultRepeated, fmt.Sprintf("Error: not executed. You have called %s with the same arguments before, and the result was the same each time. Use that result or do something else: the next call with the same arguments ends your turn.", c.call.Name))
	return false
}

// countCalls counts the calls of a completed step as consecutive identical calls of
// their tools.
func (m *machine) countCalls() {
	for i := range m.open {
		c := &m.open[i]
		r := m.repeats[c.call.Name]
		switch same := r.is(c.call); {
		case same && c.result.Status == ResultRepeated:
			r.refused = true
		case same && r.result.says(c.result):
			r.count++
		default:
			r = repeat{arguments: c.call.Arguments, result: c.result, count: 1, refused: c.result.Status == ResultRepeated}
		}
		m.repeats[c.call.Name] = r
	}
}

// is reports whether the call is identical to those that were counted.
func (r *repeat) is(c ToolCall) bool {
	return r.count > 0 && sameArguments(r.arguments, c.Arguments)
}

// says reports whether the model learns the same from two results.
func (r *ToolResult) says(other ToolResult) bool {
	return r.Status == other.Status && r.Text == other.Text && slices.EqualFunc(r.Files, other.Files, sameFile)
}

func sameFile(a, b File) bool {
	return a.Name == b.Name && a.MediaType == b.MediaType && a.URL == b.URL && string(a.Data) == string(b.Data)
}

func sameArguments(a, b string) bool { return a == b || canonical(a) == canonical(b) }

// canonical returns arguments with their keys sorted, so that identical calls
// compare as equal; it returns other text unchanged.
func canonical(arguments string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return arguments
	}
	out, err := json.Marshal(v)
	if err != nil {
		return arguments
	}
	return string(out)
}

// admit decides how a call of a known tool continues.
func (m *machine) admit(c *callState, choice PermissionRule) {
	o, spec, arguments := m.rules.opts, c.tool.spec, c.effective().Arguments
	if n := max(m.answer.argumentBytes(c.call.ID), len(arguments)); n > o.MaxArgumentBytes {
		m.settle(c, ResultInvalid, fmt.Sprintf("Error: the arguments have %d bytes; at most %d are allowed.", n, o.MaxArgumentBytes))
		return
	}
	if err := c.tool.schema.check(arguments); err != nil {
		m.settle(c, ResultInvalid, "Error: "+err.Error())
		return
	}
	if name, ok := m.rules.returnTool[c.call.Name]; ok {
		m.output, m.outName = []byte(c.call.Arguments), name
		m.settle(c, ResultOK, "Accepted.")
		return
	}
	asked, by := m.permissionOf(c), "by a rule"
	if asked == nil && (choice == "" || choice == AskEachTime) {
		choice, by = m.choices[m.rules.choicePrefix+c.call.Name], "by a remembered choice"
	}
	switch approved := asked != nil && asked.Answer != nil && asked.Answer.Approved; {
	case asked == nil && (!spec.RequiresPermission || o.FullAccess || choice == AlwaysAllow), approved && choice != AlwaysDeny:
		c.granted = approved
		m.permit(c)
	case choice == AlwaysDeny:
		m.settle(c, ResultDenied, fmt.Sprintf("Permission denied %s. The call was not executed.", by))
	default:
		if asked == nil {
			m.request(c, Permission)
		}
		c.stage = callAsking
	}
}

// permit continues a call after its permission was decided.
func (m *machine) permit(c *callState) {
	switch h := m.rules.handoffs[c.call.Name]; {
	case h != nil:
		m.acceptHandoff(c, h.to.opts.Name)
	case c.tool.spec.Question:
		m.request(c, Clarification)
		c.stage = callExternal
	case c.tool.spec.External:
		m.request(c, ClientCall)
		c.stage = callExternal
	default:
		c.stage = callReady
	}
}

// settle sets the one result of a call; the first result wins.
func (m *machine) settle(c *callState, status ResultStatus, text string, files ...File) {
	if c.stage == callDone {
		return
	}
	c.stage = callDone
	c.result = ToolResult{
		CallID: c.call.ID, Name: c.call.Name, Status: status,
		Text: cut(c.changes()+text, m.rules.opts.MaxResultBytes), Files: files, TransferredTo: c.transferredTo,
	}
	m.dirty = true
	m.show()
}

// cut truncates a result's text at a character boundary and appends a mark.
func cut(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	at := limit
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + fmt.Sprintf("\n[cut: %d of %d bytes]", at, len(text))
}

// show emits results in the order of the calls. A call that waits for a person or an
// external result, perhaps for days, does not delay the calls after it.
func (m *machine) show() {
	for i := range m.open {
		c := &m.open[i]
		switch {
		case c.stage == callAsking || c.stage == callExternal || c.stage == callSuspended:
		case c.stage != callDone:
			return
		case !c.shown:
			c.shown = true
			m.emit(ToolFinished{Result: c.result, Repeated: c.repeated, Duration: c.end.duration, Err: c.end.err})
		}
	}
}

func (m *machine) results() []ToolResult {
	out := make([]ToolResult, 0, len(m.open))
	for i := range m.open {
		if m.open[i].stage == callDone {
			out = append(out, m.open[i].result)
		}
	}
	return out
}
