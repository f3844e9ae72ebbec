package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/shoal-dev/shoal"
)

// Work is a run that a [Handler] executes. Its methods report what the run does, in the order
// of the calls; they block while too much is not stored yet, and return an error once the
// context of the run has ended. They are safe for concurrent use.
type Work struct {
	// Claimed is the run, with what it begins with and what another program has done in it
	// before. Do not change it.
	Claimed shoal.RemoteRun

	program *program
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopped func() bool // the context of the run has ended because the program stops
	owned   sync.WaitGroup

	mu      sync.Mutex
	n       int64            // the number of the last line
	queue   []shoal.WorkLine // lines without a receipt
	size    int              // of them, about
	room    chan struct{}    // closed when the queue has become shorter
	ready   chan struct{}    // holds a value when there may be something to send
	started bool             // the turn has started
	closed  bool             // no line follows
	asked   int
	steers  chan Steer
	offered map[shoal.RunID]bool // only the goroutine that follows the orders uses it
	answers map[string]chan shoal.Order
	known   map[string]shoal.Order // answers, by call
}

// maxQueue is how much may wait for a receipt.
const maxQueue = 1 << 20

// Verdict is the decision about a permission.
type Verdict struct {
	Approved bool
	// Reason is what a person wrote, or why nobody decided.
	Reason string
	// Args are the arguments that may be executed. A person may have changed them.
	Args json.RawMessage
	// ArgsHash identifies the tool and the arguments that were approved or denied.
	ArgsHash string
	By       shoal.EntityID
}

// Started says that the model has the prompt. model names it, if the program knows its name. Only
// the first call has an effect; see [ServeOptions.HandlerStarts].
func (w *Work) Started(model string) error {
	return w.Report(shoal.WorkLine{Type: shoal.WorkTurnStarted, Model: model})
}

// Steer is a message that has arrived while the run is in progress, of an agent whose configuration
// says so (loop.onNewMessage: steer).
type Steer struct {
	// RunID is the queued run that the message starts if this one does not take it in.
	RunID     shoal.RunID
	MessageID shoal.MessageID
	// By is the sender, and ActingFor are those for whom the queued run would act.
	By        shoal.EntityID
	ActingFor []shoal.EntityID
	// Text is what the model reads. What others wrote in it is between tags.
	Text string
}

// maxSteers is how many messages wait for a handler. More stay in the queue of the agent.
const maxSteers = 32

// Steers returns the messages that arrive during the run. A handler need not read them: a message
// that it does not take in with [Work.Steered] is the next run. The channel is never closed; a reader
// ends with the context of the run.
func (w *Work) Steers() <-chan Steer { return w.steers }

// Steered says that the model has a message: it is a part of this run from now on. Say it only when
// the model is certain to read it, and not before, because until then the message is safe in the
// queue.
func (w *Work) Steered(run shoal.RunID) error {
	return w.Report(shoal.WorkLine{Type: shoal.WorkSteered, RunID: run})
}

// offer keeps a message for the handler, unless it has been offered before.
func (w *Work) offer(o shoal.Order) {
	if w.offered[o.RunID] {
		return
	}
	select {
	case w.steers <- Steer{RunID: o.RunID, MessageID: o.MessageID, By: o.By, ActingFor: o.ActingFor, Text: o.Text}:
		w.offered[o.RunID] = true
	default: // it stays in the queue
	}
}

// Text appends to the text in the space of the trigger.
func (w *Work) Text(delta string) error {
	return w.Say("", "", delta)
}

// Say appends to a text in a space, by default that of the trigger. The text mentions an
// entity there when it ends, unless mention is empty: with any other line that shows
// something, or with [Work.EndText].
func (w *Work) Say(space shoal.SpaceID, mention shoal.EntityID, delta string) error {
	for len(delta) > 0 {
		n := textLength(delta, shoal.MaxDelta/2)
		if err := w.Report(shoal.WorkLine{Type: shoal.WorkText, SpaceID: space, Mention: mention, Delta: delta[:n]}); err != nil {
			return err
		}
		delta = delta[n:]
	}
	return nil
}

// textLength returns how much of a text fits in that many bytes, without splitting a character.
func textLength(s string, most int) int {
	n := min(len(s), most)
	for n < len(s) && n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// EndText ends the text that was written last, so that a mention in it has its effect.
func (w *Work) EndText(space shoal.SpaceID, mention shoal.EntityID) error {
	return w.Report(shoal.WorkLine{Type: shoal.WorkText, SpaceID: space, Mention: mention, End: true})
}

// Thought appends to the reasoning of the turn.
func (w *Work) Thought(delta string) error {
	for len(delta) > 0 {
		n := textLength(delta, shoal.MaxDelta/2)
		if err := w.Report(shoal.WorkLine{Type: shoal.WorkThought, Delta: delta[:n]}); err != nil {
			return err
		}
		delta = delta[n:]
	}
	return nil
}

// Usage adds tokens, and costs in US dollars, to those of the run.
func (w *Work) Usage(model string, tokens shoal.WorkTokens, cost float64) error {
	return w.Report(shoal.WorkLine{Type: shoal.WorkUsage, Model: model, Tokens: &tokens, Cost: cost})
}

// Permission asks whether a tool call may be executed, and waits for the verdict. callID
// identifies the call in the run: asked again, also by another program after a crash, it gets
// the verdict that was given.
func (w *Work) Permission(callID, tool, title string, args any) (Verdict, error) {
	return w.permission(shoal.WorkLine{Type: shoal.WorkPermission, CallID: callID, Tool: tool, Title: title}, args)
}

// FixedPermission is like Permission, for a program that cannot execute the call with other
// arguments: nobody is offered to change them, and a changed approval is refused.
func (w *Work) FixedPermission(callID, tool, title string, args any) (Verdict, error) {
	return w.permission(shoal.WorkLine{Type: shoal.WorkPermission, CallID: callID, Tool: tool, Title: title, Fixed: true}, args)
}

func (w *Work) permission(l shoal.WorkLine, args any) (Verdict, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return Verdict{}, fmt.Errorf("client.Work.Permission: %w", err)
	}
	l.Args = raw
	order, err := w.ask(l)
	out := Verdict{Approved: order.Approved != nil && *order.Approved, Reason: order.Reason, Args: raw, ArgsHash: order.ArgsHash, By: order.By}
	if len(order.EditedArgs) > 0 {
		out.Args = order.EditedArgs
	}
	return out, err
}

// Ask asks the members of the space a question, and waits for the answer. ok is false if
// nobody answered in time.
func (w *Work) Ask(question string, options ...string) (answer string, ok bool, err error) {
	a, err := w.Question(w.newCall("question"), question, options...)
	return a.Text, a.Given, err
}

// Answer is the answer to a question. Given is false if nobody answered in time.
type Answer struct {
	Text  string
	By    shoal.EntityID
	Given bool
}

// Question is [Work.Ask] with an id of the question in the run: asked again, also by another program
// after a crash, it gets the answer that was given.
func (w *Work) Question(callID, question string, options ...string) (Answer, error) {
	order, err := w.ask(shoal.WorkLine{Type: shoal.WorkQuestion, CallID: callID, Text: question, Options: options})
	return Answer{order.Text, order.By, err == nil && order.Error == ""}, err
}

// Card shows a card: a call of a display tool in the space of the trigger.
func (w *Work) Card(tool string, args any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("client.Work.Card: %w", err)
	}
	return w.Report(shoal.WorkLine{Type: shoal.WorkCard, CallID: w.newCall("card"), Tool: tool, Args: raw})
}

// newCall returns an id for a call. Calls of an earlier claim have other ids.
func (w *Work) newCall(what string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return what + "-" + strconv.FormatInt(w.Claimed.Generation, 10) + "-" + strconv.Itoa(w.asked)
}

// ask reports a request and waits for its answer.
func (w *Work) ask(l shoal.WorkLine) (shoal.Order, error) {
	w.mu.Lock()
	wait := w.answers[l.CallID]
	if wait == nil {
		wait = make(chan shoal.Order, 1)
		w.answers[l.CallID] = wait
	}
	if known, found := w.known[l.CallID]; found {
		w.mu.Unlock()
		return known, nil
	}
	w.mu.Unlock()
	if err := w.Report(l); err != nil {
		return shoal.Order{}, err
	}
	select {
	case order := <-wait:
		wait <- order // for others that ask the same
		return order, nil
	case <-w.ctx.Done():
		return shoal.Order{}, context.Cause(w.ctx)
	}
}

// answer keeps the answer to a request.
func (w *Work) answer(o shoal.Order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, twice := w.known[o.CallID]; twice {
		return
	}
	w.known[o.CallID] = o
	wait := w.answers[o.CallID]
	if wait == nil {
		wait = make(chan shoal.Order, 1)
		w.answers[o.CallID] = wait
	}
	wait <- o
}

// Report reports a line of any type. Its number is set. The lines that end the run are those of
// Serve.
func (w *Work) Report(l shoal.WorkLine) error {
	for {
		w.mu.Lock()
		if w.ctx.Err() != nil || w.closed {
			w.mu.Unlock()
			return w.over()
		}
		if w.size < maxQueue {
			w.start(l.Model)
			if l.Type != shoal.WorkTurnStarted {
				w.push(l)
			}
			w.mu.Unlock()
			return nil
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-w.ctx.Done():
		}
	}
}

func (w *Work) over() error {
	if cause := context.Cause(w.ctx); cause != nil {
		return cause
	}
	return ErrRunEnded
}

// start queues the line that starts the turn, unless it has started. The caller holds mu.
func (w *Work) start(model string) {
	if !w.started {
		w.started = true
		w.push(shoal.WorkLine{Type: shoal.WorkTurnStarted, Model: model})
	}
}

// push numbers and queues a line. The caller holds mu.
func (w *Work) push(l shoal.WorkLine) {
	w.n++
	l.N = w.n
	w.queue = append(w.queue, l)
	w.size += lineSize(l)
	select {
	case w.ready <- struct{}{}:
	default: // it is signaled already
	}
}

// lineSize is about the size of a line.
func lineSize(l shoal.WorkLine) int {
	return len(l.Delta) + len(l.Args) + len(l.Output) + len(l.Text) + len(l.Title) + 200
}

// finish ends the run as its handler returned, and waits until that is stored. A run that the
// program leaves because it stops is given back.
func (w *Work) finish(err error) {
	w.mu.Lock()
	ends := w.ctx.Err() == nil
	if ends {
		last := shoal.WorkLine{Type: shoal.WorkTurnEnded, Stop: "end_turn"}
		if err != nil {
			last = failedLine(err)
		} else {
			w.start("")
		}
		w.push(last)
	}
	w.closed = true
	select {
	case w.ready <- struct{}{}:
	default:
	}
	w.mu.Unlock()
	w.owned.Wait()
	if w.stopped() {
		w.giveBack(!ends)
	}
	w.cancel(ErrRunEnded)
}

// CodedError is an error with the code of a failed run, such as provider_unavailable.
type CodedError struct {
	Code string
	Err  error
}

func (e *CodedError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the code.
func (e *CodedError) Unwrap() error { return e.Err }

// maxFailure is how much of an error is reported.
const maxFailure = 1000

func failedLine(err error) shoal.WorkLine {
	l := shoal.WorkLine{Type: shoal.WorkFailed, Code: "program_failed", Text: err.Error()}
	var coded *CodedError
	if errors.As(err, &coded) {
		l.Code = coded.Code
	}
	if len(l.Text) > maxFailure {
		l.Text = l.Text[:textLength(l.Text, maxFailure)]
	}
	if l.Text == "" {
		l.Text = "The program failed."
	}
	return l
}
