package agent

import (
	"fmt"
	"time"
)

// machine is the step machine: it decides what a turn does next and which events
// it shows, and nothing else. It is pure: no clock, no I/O, no goroutine, no
// randomness; the same inputs give the same events and actions. The turn asks
// next for one action, performs it, and reports through the input methods:
//
//	callModel → chunk*, modelEnded     wait     → waited
//	reduce    → reducedHistory
//	decide    → decided                save     → saved
//	ask       → answered | unanswered  start    → (nothing)
//	await     → toolEnded              transfer → transfer
//	finish    → (nothing, the end)
//
// cancel may come at any time.
type machine struct {
	rules *rules
	turn  TurnRef
	conv  string

	phase   phase
	step    Step
	attempt int
	// model is the index of the model that is called, among rules.models.
	model int
	// failed are the errors of the models that are not to be called now, by the index of
	// the model; nil without a [Fallback].
	failed []error
	// uncounted is how many attempts of the step do not count towards Retry.Attempts.
	uncounted int
	// maxSteps increases when a continuation is granted.
	maxSteps int

	answer    answer // the model's answer as it streams
	events    []Event
	open      []callState // the calls of the step
	dirty     bool        // the open step has something that is not stored
	overflow  error       // of this step's model; its history was reduced then
	emptied   bool        // this step's model gave an empty answer and was called again
	delay     time.Duration
	started   int             // index of the call that starts
	asked     map[string]bool // requests that were passed to Options.Answer
	announced map[string]bool // requests that were emitted
	toApply   []Pending       // answers that take effect when they are stored
	callIDs   map[string]bool // ids used in this turn
	repeats   map[string]repeat
	unpriced  bool            // warned that a model's price is unknown
	errors    int             // consecutive steps with a failure
	queue     []Message       // interjected; the next step reads them
	target    string          // receives the conversation after the closed step
	handoffs  int             // in this turn
	begins    int             // the first step of the present agent
	before    budget          // used before that step
	root      *Options        // of the agent that was run: its limits hold for the whole turn
	shares    []Spending      // nil without handoffs
	closing   Reason          // the limit after which the next step is the closing answer
	restored  map[string]bool // the requests that were stored when the turn was resumed
	complete  []string

	began     time.Time
	elapsed   time.Duration // since then
	stepBegan time.Duration
	usage     Usage
	cost      float64
	calls     int
	end       *ending
	choices   map[string]PermissionRule
	output    []byte // the structured answer
	outName   string
	stopped   bool // the turn is canceled or its store is broken: nothing new starts
}

// phase is the state of a step.
type phase int

const (
	phaseStep     phase = iota // a step begins
	phaseModel                 // the model is to be called
	phaseReduce                // the history was too long for the model
	phaseBackoff               // a retry waits
	phaseDecide                // rules and hooks check the calls
	phaseCalls                 // requests and tools
	phaseTransfer              // another agent continues
	phaseEnded
)

// actionKind is the kind of an [action].
type actionKind int

const (
	actCallModel actionKind = iota + 1
	actReduce               // shorten the history, whatever the options say
	actWait
	actDecide
	actSave  // and wait until it is stored
	actAsk   // pass a request to Options.Answer
	actStart // start a tool
	actAwait // wait for a tool
	actTransfer
	actFinish
)

// action is one thing to do; only the fields of its kind are set.
type action struct {
	kind    actionKind
	attempt int
	delay   time.Duration
	step    Step
	pending Pending
	call    ToolCall
	calls   []ToolCall
	agent   string
}

// ending is how the turn ends.
type ending struct {
	outcome Outcome
	reason  Reason
	message string
	err     error
	unsaved bool
}

// repeat counts the consecutive calls of one tool that had the same arguments and the
// same result. refused means that the model received the refusal.
type repeat struct {
	arguments string
	result    ToolResult
	count     int
	refused   bool
}

func newMachine(r *rules, conversation string, turn TurnRef) *machine {
	m := &machine{
		rules: r, conv: conversation, turn: turn, maxSteps: r.opts.MaxSteps, root: r.opts,
		asked: map[string]bool{}, announced: map[string]bool{},
		callIDs: map[string]bool{}, repeats: map[string]repeat{}, choices: map[string]PermissionRule{},
	}
	if n := len(r.models); n > 1 {
		m.failed = make([]error, n)
	}
	return m
}

// take returns the events since the last call. The slice is reused.
func (m *machine) take() []Event {
	out := m.events
	m.events = m.events[:0]
	return out
}

func (m *machine) emit(e Event) { m.events = append(m.events, e) }

// next returns the next action. It is called again after the previous action was
// reported.
func (m *machine) next() action {
	for {
		switch m.phase {
		case phaseStep:
			m.beginStep()
		case phaseModel:
			m.attempt++
			return action{kind: actCallModel, attempt: m.attempt}
		case phaseReduce:
			return action{kind: actReduce}
		case phaseBackoff:
			return action{kind: actWait, delay: m.delay}
		case phaseDecide:
			return action{kind: actDecide, calls: m.undecided()}
		case phaseCalls:
			if act, ok := m.nextInCalls(); ok {
				return act
			}
		case phaseTransfer:
			return action{kind: actTransfer, agent: m.target}
		case phaseEnded:
			return action{kind: actFinish}
		}
	}
}

// beginStep opens the step whose index is m.step.
func (m *machine) beginStep() {
	if m.overBudget() {
		return
	}
	m.step = Step{Index: m.step.Index, Closing: m.closing}
	m.attempt, m.overflow, m.emptied, m.open, m.dirty = 0, nil, false, nil, false
	m.uncounted = 0
	clear(m.failed)
	m.stepBegan = m.elapsed
	m.emitStepStarted(false)
	if len(m.queue) > 0 {
		m.step.Before, m.queue = m.queue, nil
		m.emit(Interjected{Step: m.step.Index, Messages: m.step.Before})
	}
	m.phase = phaseModel
}

// tick reports the time since the turn began.
func (m *machine) tick(elapsed time.Duration) { m.elapsed = elapsed }

func (m *machine) now() time.Time { return m.began.Add(m.elapsed).Round(0) }

func (m *machine) emitStepStarted(repeated bool) {
	m.emit(StepStarted{Step: m.step.Index, Agent: m.rules.agent, MaxSteps: max(m.maxSteps, m.step.Index+1), Closing: m.step.Closing, Errors: m.errors, Completed: m.complete[:len(m.complete):len(m.complete)], Repeated: repeated})
}

// overBudget ends a turn that has used more than it may, and reports whether it did.
func (m *machine) overBudget() bool {
	message := m.budgetUsed()
	if message != "" {
		m.fail(ReasonBudget, message, nil)
	}
	return message != ""
}

// budgetUsed says what the turn has used more of than it may; empty if nothing.
func (m *machine) budgetUsed() string {
	if over := m.over(m.root, budget{}, "The turn"); over != "" {
		return over
	}
	return m.over(m.rules.opts, m.before, "The agent "+m.rules.agent)
}

// over says what has been used since more than the options allow.
func (m *machine) over(o *Options, since budget, what string) string {
	switch {
	case o.MaxTokens > 0 && m.tokens()-since.tokens > o.MaxTokens:
		return fmt.Sprintf("%s used more than its %d tokens.", what, o.MaxTokens)
	case o.MaxCost > 0 && m.cost-since.cost > o.MaxCost:
		return fmt.Sprintf("%s cost more than its %.2f USD.", what, o.MaxCost)
	}
	return ""
}

// waited reports that the delay of a retry is over.
func (m *machine) waited() {
	if m.phase == phaseBackoff {
		m.phase = phaseModel
	}
}

// cancel ends the turn for an external reason: canceled, timeout or internal. The
// model's stream has ended by then; running tools are awaited, and their calls get
// their results.
func (m *machine) cancel(reason Reason, message string, err error) {
	if m.stopped || m.phase == phaseEnded {
		return
	}
	m.stopped = true
	outcome := Failed
	if reason == ReasonCanceled {
		outcome = Canceled
	}
	m.end = &ending{outcome: outcome, reason: reason, message: message, err: err}
	switch m.phase {
	case phaseModel, phaseReduce, phaseBackoff:
		m.cutShort()
	case phaseDecide:
		m.phase = phaseCalls
	case phaseCalls:
	default:
		m.phase = phaseEnded
	}
}

// saved reports the outcome of storing a step. After a failure nothing more is stored.
func (m *machine) saved(err error) {
	if err == nil {
		for i := range m.toApply {
			m.emit(RequestAnswered{Pending: m.toApply[i]})
			m.apply(&m.toApply[i])
		}
		m.toApply = nil
		return
	}
	if m.end != nil && m.end.unsaved {
		return
	}
	m.cancel(ReasonStorage, "The conversation could not be stored.", err)
	if m.end == nil || m.end.reason != ReasonStorage {
		m.end = unsaved(err)
	}
	m.end.unsaved = true
}

func (m *machine) fail(reason Reason, message string, err error) {
	m.end = &ending{outcome: Failed, reason: reason, message: message, err: err}
	m.phase = phaseEnded
}

func (m *machine) succeed(reason Reason) {
	m.end = &ending{outcome: Completed, reason: reason}
	m.phase = phaseEnded
}
