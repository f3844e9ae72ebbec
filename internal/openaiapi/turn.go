package openaiapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// turn is one request to an agent: the client says something and is shown what the agent writes. It belongs
// to the goroutine of the request.
type turn struct {
	*call
	*exchange.Exchange
	in    prompt
	agent shoal.Entity
	// resumes says that the client answers a call that waits: an earlier answer has shown what the agent has
	// written until then. After a repeated request, all of it is shown.
	resumes bool
	view    *projection
	out     *eventstream.Stream // nil for an answer in one piece
}

// prompt is what a request asks of an agent, in either protocol.
type prompt struct {
	model  string
	stream bool
	said   said
	tools  []string      // the names of the client's tools
	space  shoal.SpaceID // where the client talks, "" for a space of the two
	// client returns what the runs get of the request.
	client func() (*storage.ClientInput, error)
	// form returns the form of the answer for a turn whose runs are known.
	form func(*turn) form
}

// said is what a client says: a message, or answers to calls.
type said struct {
	draft   shoal.Draft
	answers []answer
}

// answer is the result of a call of one of the client's tools.
type answer struct {
	run  shoal.RunID
	call string
	text string
	at   string
}

// take makes the turn that a request asks for.
func (c *call) take(in prompt) error {
	x := &turn{call: c, in: in}
	var err error
	if x.agent, err = c.agent(in.model); err != nil {
		return err
	}
	space, err := c.space(x.agent, in.space)
	if err != nil {
		return err
	}
	var end func()
	if x.Exchange, end, err = c.Open(c.r, c.caller, c.session, space); err != nil {
		return err
	}
	defer end()
	if err := x.say(c.r.Context(), in.said); err != nil {
		return err
	}
	return x.answer()
}

// space returns the space of the turn: the one that the client names, or its own with the
// agent, which is created when it is needed.
func (c *call) space(agent shoal.Entity, named shoal.SpaceID) (shoal.SpaceID, error) {
	if named == "" {
		named = shoal.SpaceID(c.r.Header.Get("X-Shoal-Space"))
	}
	if named != "" {
		return named, nil
	}
	id := ChatSpace(c.caller.EntityID, agent.ID)
	_, err := c.Hub.Spaces.Get(c.r.Context(), c.caller, c.session, id)
	if shoal.KindOf(err) != shoal.NotFound {
		return id, err
	}
	_, err = c.Hub.Spaces.Create(c.r.Context(), c.caller, c.session, shoal.NewSpace{ID: id, Name: "Chat with " + agent.Name, Members: []shoal.EntityID{agent.ID}}, "")
	if errors.Is(err, shoal.AlreadyExists) { // another request has just created it, or it is another entity's
		err = nil
	}
	return id, err
}

// ChatSpace returns the id of the space where an entity chats with an agent.
func ChatSpace(entity, agent shoal.EntityID) shoal.SpaceID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", entity, agent))
	return shoal.SpaceID(shoal.PrefixSpace + "chat" + hex.EncodeToString(sum[:10]))
}

// say posts what the client says, or answers what waits for it.
func (x *turn) say(ctx context.Context, said said) error {
	if len(said.answers) > 0 {
		waiting, err := x.Waiting(ctx)
		if err != nil {
			return err
		}
		x.resumes = slices.ContainsFunc(waiting, func(w shoal.PendingAction) bool {
			return slices.ContainsFunc(said.answers, func(a answer) bool { return a.run == w.RunID && a.call == w.ToolCallID })
		})
	}
	for _, a := range said.answers {
		_, err := x.API.Hub.Pending.AnswerCall(ctx, x.caller, x.session, a.run, a.call, shoal.PendingAnswer{Result: exchange.Result(a.text)})
		if err != nil {
			return x.once(at(err, a.at))
		}
		if err := x.Want(ctx, a.run); err != nil {
			return err
		}
	}
	if len(said.draft.Parts) > 0 {
		answered, err := x.AnswerQuestion(ctx, x.agent.ID, said.draft)
		if err != nil {
			return err
		}
		if !answered {
			if err := x.post(ctx, said.draft); err != nil {
				return err
			}
		}
	}
	if err := x.Find(ctx); err != nil {
		return x.once(err)
	}
	if len(x.Runs) == 0 {
		nobody := x.Nobody("mention one: the model is the agent that is mentioned")
		if len(x.Posted.SkippedAgents) == 0 {
			nobody.Msg = fmt.Sprintf("The message is in the space %s, but the agent %s is not a member of it. Add it to the space, or leave X-Shoal-Space out.", x.Space, x.agent.ID)
		}
		return x.once(nobody)
	}
	return nil
}

// post posts a message to the agent.
func (x *turn) post(ctx context.Context, d shoal.Draft) error {
	client, err := x.in.client()
	if err != nil {
		return err
	}
	key := ""
	if sent := x.r.Header.Get("Idempotency-Key"); sent != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", x.Space, sent))
		key = "openai-" + hex.EncodeToString(sum[:])
	}
	d.Mentions = []shoal.EntityID{x.agent.ID}
	return x.Post(ctx, d, client, key)
}

// once returns an error that the official clients do not repeat the request for.
func (x *turn) once(err error) error {
	x.w.Header().Set("X-Should-Retry", "false")
	return err
}

// at returns an error about a field of the request.
func at(err error, place string) error {
	var e *shoal.Error
	if !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Fields = []shoal.FieldError{{Location: place, Message: e.Msg}}
	return &placed
}

// answer shows what follows until there is nothing more to wait for.
func (x *turn) answer() error {
	x.view = newProjection(x)
	if x.in.stream {
		x.out = eventstream.New(x.w, x.WriteTimeout)
		defer x.out.Close()
	}
	err := x.Play(x.r.Context(), x.view, x)
	x.cancel(err)
	if err == nil || x.r.Context().Err() != nil || errors.Is(err, eventstream.ErrGone) {
		return nil
	}
	object, status := x.object(err)
	if x.out == nil || !x.out.Started() {
		x.w.Header().Set("X-Should-Retry", "false")
		object.Write(x.w, status)
		return nil
	}
	_ = eventstream.Write(x.out, x.view.form.failed(object)) // an error means that the client has disconnected
	return nil
}

// object returns an error as the client sees it.
func (x *turn) object(err error) (guard.OpenAIError, int) {
	var run runFailed
	if errors.As(err, &run) {
		return guard.OpenAIError{Message: run.Message, Type: "server_error", Code: run.Code}, http.StatusBadGateway
	}
	err = x.report(x.w, x.r, err)
	return guard.NewOpenAIError(err), guard.Status(shoal.KindOf(err))
}

// Flush sends what is new; see [exchange.Client].
func (x *turn) Flush() error {
	if x.out == nil {
		return nil
	}
	return eventstream.Write(x.out, x.view.form.take())
}

// Beat checks the key again, and keeps the connection open.
func (x *turn) Beat() error {
	err := x.CheckCaller(x.r, x.caller)
	if err == nil && x.out != nil {
		err = x.out.Beat()
	}
	return err
}

// Over ends the answer when all runs have ended or wait for the client.
func (x *turn) Over(ctx context.Context) (bool, error) {
	state, waiting, err := x.State(ctx, func(shoal.PendingAction) bool { return false })
	if err != nil {
		return false, err
	}
	finish := "stop"
	switch state {
	case exchange.Active:
		return false, nil
	case exchange.Waits:
		if finish = x.view.waits(waiting); finish == "" { // for something that the client has no form for
			return false, x.Flush()
		}
	case exchange.Ended:
	}
	for _, run := range x.Runs {
		if run.AgentID != x.agent.ID {
			continue
		}
		if failure := run.Failure(); failure != nil {
			return true, runFailed{*failure}
		}
		if run.Status != shoal.RunCanceled || run.Past {
			continue
		}
		if finish = cancelled; !x.view.form.sayCancelled() {
			return true, runFailed{shoal.RunError{Code: string(shoal.RunCanceled), Message: "The run was canceled before the answer was complete."}}
		}
	}
	if x.out == nil {
		return true, x.write(x.view.form.whole(x.view.order, finish, x.Usage()))
	}
	x.view.form.finish(x.view.order, finish, x.Usage())
	if err := x.Flush(); err != nil {
		return true, err
	}
	return true, x.view.form.close(x.out)
}

// runFailed is the error of a run: unlike an internal error of the server, the client may see it.
type runFailed struct{ shoal.RunError }

func (e runFailed) Error() string { return e.Message }

// cancel cancels the runs that the message has started and that are running, if the client has
// disconnected.
func (x *turn) cancel(err error) {
	gone := errors.Is(err, eventstream.ErrGone) || x.r.Context().Err() != nil
	if !gone || errors.Is(err, core.ErrStopping) || x.Posted == nil {
		return
	}
	if err := x.CancelRunning(x.r.Context()); err != nil && !errors.Is(err, core.ErrStopping) {
		x.Log.Error("the runs of a client that has disconnected cannot be canceled", "request", guard.RequestID(x.w), "error", err)
	}
}
