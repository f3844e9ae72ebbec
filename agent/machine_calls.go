package agent

import (
	"fmt"
	"slices"
	"time"
)

// callStage is where a call is.
type callStage int

const (
	callNew      callStage = iota // not looked at
	callReady                     // may start
	callRunning                   // its tool runs
	callExternal                  // somebody outside executes it
	callParked                    // its tool waits for an answer itself (a sub-agent)
	callDone                      // has its result
)

// callState is one call of the open step.
type callState struct {
	call   ToolCall
	tool   *boundTool
	stage  callStage
	result ToolResult
	end    toolEnd
	shown  bool
}

// toolEnd is what is told about a call's end beside its result. parked are the
// requests of a tool that has to wait itself; then there is no result yet.
type toolEnd struct {
	duration time.Duration
	err      error
	parked   []Pending
}

// verdict is what rules and hooks say about a call before anybody is asked.
type verdict struct {
	blocked *ToolResult
	choice  Choice
}

// openCalls makes the states of the assistant message's calls and answers those
// that can never run.
func (m *machine) openCalls() {
	calls := m.step.Assistant.Calls()
	m.open = make([]callState, len(calls))
	for i, c := range calls {
		m.callIDs[c.ID] = true
		m.open[i] = callState{call: c, tool: m.rules.specs[c.Name]}
	}
}

// knowCalls keeps the ids of calls unique in the conversation, not only in the
// turn: some models count from one each time.
func (m *machine) knowCalls(history []Message) {
	for i := range history {
		for _, p := range history[i].Parts {
			if p.Type == CallPart {
				m.callIDs[p.Call.ID] = true
			}
		}
	}
}

// decided reports what rules and hooks said, by call id.
func (m *machine) decided(verdicts map[string]verdict) {
	if m.stopped || m.phase != phaseDecide {
		return
	}
	m.phase = phaseCalls
	m.dirty = len(m.open) > 0
	if m.stopsHere() {
		return
	}
	for i := range m.open {
		c := &m.open[i]
		v := verdicts[c.call.ID]
		switch {
		case c.tool == nil:
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
		case v.blocked != nil:
			m.settle(c, v.blocked.Status, v.blocked.Text)
		default:
			m.admit(c, v.choice)
		}
	}
}

// stopsHere applies the rules that end the turn before any tool runs.
func (m *machine) stopsHere() bool {
	o := m.rules.opts
	for i := range m.open {
		c := &m.open[i]
		if n := m.count(c.call); o.MaxIdenticalCalls > 0 && n >= o.MaxIdenticalCalls {
			m.stop(ReasonIdenticalCalls, fmt.Sprintf("The model called %s %d times in a row with the same arguments.", c.call.Name, n))
			return true
		}
	}
	for i := range m.open {
		if c := &m.open[i]; c.tool == nil && o.StopOnUnknownTool {
			m.settle(c, ResultUnknown, m.unknown(c.call.Name))
			m.stop(ReasonUnknownTool, fmt.Sprintf("The model called the tool %q, which is not there.", c.call.Name))
			return true
		}
	}
	return false
}

// stop ends the turn with this step; no call of it runs any more.
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

// count counts a call among the identical ones in a row of its tool.
func (m *machine) count(c ToolCall) int {
	r := m.repeats[c.Name]
	if r.count > 0 && (r.arguments == c.Arguments || canonical(r.arguments) == canonical(c.Arguments)) {
		r.count++
	} else {
		r = repeat{arguments: c.Arguments, count: 1}
	}
	m.repeats[c.Name] = r
	return r.count
}

// admit decides how a call with a known tool goes on.
func (m *machine) admit(c *callState, choice Choice) {
	o, spec := m.rules.opts, c.tool.spec
	if n := m.answer.argumentBytes(c.call.ID); n > o.MaxArgumentBytes {
		m.settle(c, ResultInvalid, fmt.Sprintf("Error: the arguments have %d bytes; at most %d are allowed.", n, o.MaxArgumentBytes))
		return
	}
	if err := c.tool.schema.check(c.call.Arguments); err != nil {
		m.settle(c, ResultInvalid, "Error: "+err.Error())
		return
	}
	if name, ok := m.rules.returnTool[c.call.Name]; ok {
		m.output, m.outName = []byte(c.call.Arguments), name
		m.settle(c, ResultOK, "Accepted.")
		return
	}
	by := "by a rule"
	if choice == "" || choice == AskAgain {
		choice, by = m.choices[c.call.Name], "by a remembered choice"
	}
	switch {
	case !spec.RequiresPermission || o.FullAccess || choice == AlwaysAllow:
		m.permit(c)
	case choice == AlwaysDeny:
		m.settle(c, ResultDenied, fmt.Sprintf("Execution of '%s' was denied: %s", c.call.Name, by))
	default:
		m.request(c, Permission)
	}
}

// permit lets a call go on after permission is no question any more.
func (m *machine) permit(c *callState) {
	switch {
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

// request adds a pending request about the call.
func (m *machine) request(c *callState, kind PendingKind) {
	id := fmt.Sprintf("%s.%d.%d.%s", m.turn.ID, m.step.Index, m.place(c), kind)
	if slices.ContainsFunc(m.step.Pending, func(p Pending) bool { return p.ID == id }) {
		return
	}
	p := Pending{
		ID: id, Kind: kind, Call: c.call, Description: c.tool.spec.Description,
		Agent: m.rules.agent, Conversation: m.conv, RequestedAt: m.now(),
	}
	if in := c.tool.spec.ExpiresIn; in > 0 {
		p.ExpiresAt = m.now().Add(in)
	}
	if kind == Clarification {
		p.Question, p.Options = questionOf(c.call.Arguments)
	}
	m.step.Pending = append(m.step.Pending, p)
	m.dirty = true
}

// place is where the call stands among those of its step.
func (m *machine) place(c *callState) int {
	return slices.IndexFunc(m.open, func(o callState) bool { return o.call.ID == c.call.ID })
}

// settle gives a call its one result; the first stays.
func (m *machine) settle(c *callState, status ResultStatus, text string, files ...File) {
	if c.stage == callDone {
		return
	}
	c.stage = callDone
	c.result = ToolResult{
		CallID: c.call.ID, Name: c.call.Name, Status: status,
		Text: cut(text, m.rules.opts.MaxResultBytes), Files: files,
	}
	m.dirty = true
	m.show()
}

// show emits results in the order of the calls. What waits for an answer from
// outside, perhaps for days, does not hold back those behind it.
func (m *machine) show() {
	for i := range m.open {
		c := &m.open[i]
		switch {
		case c.stage == callExternal || c.stage == callParked:
		case c.stage != callDone:
			return
		case !c.shown:
			c.shown = true
			m.emit(ToolFinished{Result: c.result, Duration: c.end.duration, Err: c.end.err})
		}
	}
}

// nextInCalls drives requests and tools until every call has its result.
func (m *machine) nextInCalls() (action, bool) {
	if m.stopped {
		return m.nextInStop()
	}
	if m.unanswered(Permission) == nil {
		m.markStarted()
	}
	running, left := m.tally()
	if left == 0 && len(m.toApply) == 0 && !m.needsMoreSteps() {
		return m.closeStep(), true
	}
	if m.dirty {
		m.dirty = false
		m.step.Results = m.results()
		return action{kind: actSave, step: m.step}, true
	}
	m.announce()
	if m.settleByChoice() {
		return action{}, false // to be stored
	}
	switch p := m.unanswered(Permission); {
	case p != nil:
		return m.askOrPark(Permission), true
	case running < m.rules.opts.MaxParallelTools && m.startNext():
		return action{kind: actStart, call: m.open[m.started].call}, true
	case running > 0:
		return action{kind: actAwait}, true
	}
	return m.askOrPark(""), true
}

// markStarted notes what may begin now, so that it is stored before it begins.
func (m *machine) markStarted() {
	for i := range m.open {
		if c := &m.open[i]; c.stage == callReady && !slices.Contains(m.step.Started, c.call.ID) {
			m.step.Started = append(m.step.Started, c.call.ID)
			m.dirty = true
		}
	}
}

// startNext moves the first ready call to running and reports whether there was
// one; m.started is its place.
func (m *machine) startNext() bool {
	at := slices.IndexFunc(m.open, func(c callState) bool { return c.stage == callReady })
	if at < 0 {
		return false
	}
	m.started = at
	m.open[at].stage = callRunning
	m.calls++
	m.complete = append(m.complete, m.open[at].call.Name)
	m.emit(ToolStarted{Call: m.open[at].call})
	return true
}

// tally returns how many tools run and how many calls have no result.
func (m *machine) tally() (running, left int) {
	for i := range m.open {
		if m.open[i].stage == callRunning {
			running++
		}
		if m.open[i].stage != callDone {
			left++
		}
	}
	return running, left
}

// runs reports whether the call's tool runs.
func (m *machine) runs(callID string) bool {
	return slices.ContainsFunc(m.open, func(c callState) bool { return c.call.ID == callID && c.stage == callRunning })
}

// nextInStop ends a step whose turn is over: running tools are awaited, and all
// other calls get their results.
func (m *machine) nextInStop() (action, bool) {
	for i := range m.open {
		if c := &m.open[i]; c.stage != callRunning {
			m.settle(c, ResultCanceled, "Error: canceled before it could run.")
		}
	}
	if running, _ := m.tally(); running > 0 {
		return action{kind: actAwait}, true
	}
	return m.closeStep(), true
}

// announce shows the requests that are stored and were not shown.
func (m *machine) announce() {
	for _, p := range m.step.Pending {
		if p.Answer == nil && !m.announced[p.ID] {
			m.announced[p.ID] = true
			m.emit(Requested{Pending: p})
		}
	}
}

// unanswered returns the first request of the kind about this turn's own calls
// that has no answer.
func (m *machine) unanswered(kind PendingKind) *Pending {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.Kind == kind && p.Answer == nil && p.Via == "" {
			return p
		}
	}
	return nil
}

// settleByChoice answers the permissions of tools whose choice came with the
// answer to another request of the step, and reports whether there were any.
func (m *machine) settleByChoice() bool {
	before := len(m.toApply)
	for _, p := range m.step.Pending {
		choice := m.choices[p.Call.Name]
		if p.Kind == Permission && p.Answer == nil && p.Via == "" && (choice == AlwaysAllow || choice == AlwaysDeny) {
			m.answered(Answer{PendingID: p.ID, Approved: choice == AlwaysAllow})
		}
	}
	return len(m.toApply) > before
}

// overdue is the answer to a request that nobody answered in time.
func overdue(id string) Answer {
	return Answer{PendingID: id, Reason: "Nobody answered in time.", Text: "Error: nobody answered in time.", Failed: true}
}

// askOrPark puts each request of the kind, or of all kinds, to Options.Answer
// once, and then waits for days.
func (m *machine) askOrPark(kind PendingKind) action {
	for _, p := range m.step.Pending {
		if p.Answer == nil && !m.asked[p.ID] && p.Via == "" && (kind == "" || p.Kind == kind) {
			m.asked[p.ID] = true
			return action{kind: actAsk, pending: p}
		}
	}
	return m.park()
}

// park ends the turn as waiting; the open step is stored already.
func (m *machine) park() action {
	m.end = &ending{outcome: Waiting, reason: ReasonPending, message: "The turn waits for an answer."}
	m.phase = phaseEnded
	return action{kind: actFinish}
}

// answered reports the answer to a request; it is shown when it is stored.
func (m *machine) answered(a Answer) {
	for i := range m.step.Pending {
		if p := &m.step.Pending[i]; p.ID == a.PendingID && p.Answer == nil && !m.stopped {
			m.step.Pending = slices.Clone(m.step.Pending) // the store has the one before
			p = &m.step.Pending[i]
			p.Answer = &a
			m.dirty = true
			m.toApply = append(m.toApply, *p)
			return
		}
	}
}

// apply lets the answer of a request act on its call.
func (m *machine) apply(p *Pending) {
	for i := range m.open {
		c := &m.open[i]
		if p.Via != "" || p.Kind == Continuation || c.call.ID != p.Call.ID || c.stage == callDone {
			continue
		}
		if p.Kind == Permission {
			m.applyPermission(c, p.Answer)
			continue
		}
		status := ResultOK
		if p.Answer.Failed {
			status = ResultFailed
		}
		m.settle(c, status, p.Answer.Text, p.Answer.Files...)
	}
}

func (m *machine) applyPermission(c *callState, a *Answer) {
	if a.Choice == AlwaysAllow || a.Choice == AlwaysDeny {
		m.choices[c.call.Name] = a.Choice
	}
	if a.Approved {
		m.permit(c)
		return
	}
	text := a.Reason
	if text == "" {
		text = "Permission denied by user."
	}
	m.settle(c, ResultDenied, text)
}

// toolEnded reports a tool's result.
func (m *machine) toolEnded(r ToolResult, end toolEnd) {
	for i := range m.open {
		c := &m.open[i]
		if c.call.ID != r.CallID || c.stage != callRunning {
			continue
		}
		if len(end.parked) > 0 && m.stopped { // nobody will go on with it
			r.Status, r.Text = ResultCanceled, "Error: canceled while it waited for an answer."
		}
		if len(end.parked) == 0 || m.stopped {
			c.end = end
			m.settle(c, r.Status, r.Text, r.Files...)
			m.withdraw(c.call.ID)
			return
		}
		c.stage = callParked
		m.withdraw(c.call.ID)
		for _, p := range end.parked {
			p.Via = c.call.ID
			m.step.Pending = append(m.step.Pending, p)
		}
		m.dirty = true
	}
}

// withdraw drops the nested requests of a call, which its tool reports anew as
// long as they stand.
func (m *machine) withdraw(callID string) {
	m.step.Pending = slices.DeleteFunc(slices.Clone(m.step.Pending), func(p Pending) bool {
		return p.Via != "" && p.Via == callID
	})
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

// waitingFor returns the requests that have no answer.
func (m *machine) waitingFor() []Pending {
	var out []Pending
	for _, p := range m.step.Pending {
		if p.Answer == nil {
			out = append(out, p)
		}
	}
	return out
}
