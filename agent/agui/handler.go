package agui

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/shoal-dev/shoal/agent"
)

// MaxBody is how many bytes a run's input may have. Wrap a [Handler] with
// http.MaxBytesHandler for less.
const MaxBody = 16 << 20

// Build returns the model and the options of the agent for a run. It may authenticate
// the request, and set in.Conversation. The client receives the kind and the message
// of an [agent.Error]; any other error is reported as an internal one.
type Build func(r *http.Request, in *Input) (agent.Model, agent.Options, error)

// Handler serves runs: POST with a RunAgentInput, answered by a stream of
// server-sent events. It does not authenticate: wrap it in a handler that does.
//
// The agent of a run is that of build, and the client adds to it:
//   - Its tools become agent.External tools, and the model may then call one tool
//     at a time. A call of one ends the run as a success; the result comes as a
//     tool message in the next run, which goes on where the turn was.
//   - Its context follows the instructions.
//   - forwardedProps may set temperature, max_tokens (never more than the options
//     allow), top_p, frequency_penalty, presence_penalty, seed and stop.
//
// The thread is the conversation in.Conversation of store. If the store has the
// conversation, it takes precedence: the messages of users, systems and developers
// after the last stored message are the input of the turn, no stored message is
// stored twice, and the client's version of anything else is ignored. Otherwise the
// thread begins with the history that the client sends. Parts
// that cannot be used (handles of files at a provider) are left out and named by
// a CUSTOM event "ignored".
//
// A thread that waits is resumed by a run that answers everything it waits for;
// other runs get 409. When such a run, or one after a crash, has new messages
// too, they become a turn of their own in the same run once the unfinished one is
// completed. Only one process may serve a thread at a time: another would take a
// running turn for one that a crash has left.
//
// What is wrong before the agent begins is an HTTP error with a problem document
// (RFC 9457): 400 for a wrong input, 405, 409 when the thread waits or has a run
// already, 413, 415, 500. After that a failure is a RUN_ERROR. When the client
// disconnects or does not take bytes for half a minute, the turn is canceled and
// stored as such. If turns must outlive connections, use the server instead of
// this handler.
func Handler(store agent.Store, build Build) http.Handler {
	return &handler{store: store, build: build}
}

type handler struct {
	store agent.Store
	build Build
}

// ServeHTTP runs an agent once.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, err := read(w, r)
	if err != nil {
		writeProblem(w, err)
		return
	}
	run, err := h.prepare(r, in)
	if err != nil {
		writeProblem(w, err)
		return
	}
	run.serve(w, r)
}

// read takes the input from the request.
func read(w http.ResponseWriter, r *http.Request) (*Input, error) {
	if r.Method != http.MethodPost {
		return nil, errMethod
	}
	// A page of another origin may send text without asking, JSON it may not.
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, agent.NewError("agui.Handler", agent.ErrUnsupportedMediaType, "The body must be application/json.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, &agent.Error{Op: "agui.Handler", Kind: agent.ErrTooLarge, Msg: "The body is too large; send a shorter history or smaller files.", Err: err}
		}
		return nil, &agent.Error{Op: "agui.Handler", Kind: agent.ErrInvalidJSON, Msg: "The body ended early.", Err: err}
	}
	return Decode(body)
}

// run is one run that is about to begin.
type run struct {
	agent  *agent.Agent
	thread *thread
	in     *Input
}

// prepare does all that can be refused.
func (h *handler) prepare(r *http.Request, in *Input) (*run, error) {
	model, options, err := h.build(r, in)
	if err != nil {
		return nil, err
	}
	a, err := newAgent(model, options, in)
	if err != nil {
		return nil, err
	}
	t, err := openThread(r.Context(), h.store, in)
	if err != nil {
		return nil, err
	}
	if err := t.save(r.Context()); err != nil {
		return nil, err
	}
	return &run{agent: a, thread: t, in: in}, nil
}

// serve takes the turns of the run and shows their events.
func (u *run) serve(w http.ResponseWriter, r *http.Request) {
	out := newStream(w)
	defer out.close()
	p := NewProjection(u.in)
	first := u.thread.input
	if u.thread.open {
		first = nil
	}
	more := u.thread.open && len(u.thread.input) > 0
	ignored := u.thread.skipped
	for e, err := range u.agent.Stream(r.Context(), u.thread.conv, first...) {
		if err != nil {
			writeProblem(w, err)
			return
		}
		if end, ok := e.(agent.TurnFinished); ok && more && end.Outcome == agent.Completed {
			break // by itself: nothing follows
		} else if ok {
			more = false
		}
		events := p.Event(e)
		for _, what := range ignored {
			events = append(events, Event{Type: Custom, Name: "ignored", Value: map[string]any{"what": what}})
		}
		ignored = nil
		if !out.write(events) {
			return
		}
	}
	if more {
		u.goOn(p, out, r)
	}
}

// goOn takes the new messages that came with the answers to the unfinished turn.
func (u *run) goOn(p *Projection, out *stream, r *http.Request) {
	for e, err := range u.agent.Stream(r.Context(), u.thread.conv, u.thread.input...) {
		if err != nil {
			public := publicError(err)
			e = agent.TurnFinished{Outcome: agent.Failed, Reason: agent.Reason(public.Kind), Message: public.Msg}
		}
		if !out.write(p.Event(e)) {
			return
		}
	}
}
