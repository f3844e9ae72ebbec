package aguiapi

import (
	"context"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// protocolRun is one run of the protocol: what the client asks, and what it is shown.
// It belongs to the goroutine of the request.
type protocolRun struct {
	*exchange.Exchange
	api *API
	r   *http.Request
	in  *agui.Input
	end func()

	resumes bool                 // the client connects to what goes on, and asks for nothing
	ignored []chatapi.Ignored    // what the client sent in vain
	sent    *storage.ClientInput // what runs get of the input, nil for nothing
	view    *projection
	out     *eventstream.Stream
}

// prepare does what needs no right but to follow the space.
func (a *API) prepare(r *http.Request) (*protocolRun, error) {
	caller, err := a.Caller(r)
	if err != nil {
		return nil, err
	}
	x := &protocolRun{api: a}
	session := shoal.SessionID(r.PathValue("session"))
	a.Auth.RecordCall(caller, session)
	body := guard.Body(r)
	if len(body) == 0 {
		return nil, shoal.E("aguiapi", shoal.InvalidJSON, "The body is empty. Send a RunAgentInput.")
	}
	if x.in, err = agui.Decode(body); err != nil {
		return nil, agenterror.Convert(err)
	}
	if err := checkInput(x.in); err != nil {
		return nil, err
	}
	if x.sent, err = clientInput(x.in); err != nil {
		return nil, err
	}
	if x.view, err = newProjection(x.in, body); err != nil {
		return nil, err
	}
	x.Exchange, x.end, err = a.Open(r, caller, session, shoal.SpaceID(r.PathValue("space")))
	return x, err
}

// ask does what the client wants, and finds the runs that follow from it.
func (x *protocolRun) ask(ctx context.Context) error {
	if err := x.answer(ctx); err != nil {
		return err
	}
	if err := x.post(ctx); err != nil {
		return err
	}
	if err := x.Find(ctx); err != nil {
		return err
	}
	return x.unused(ctx)
}

// connect finds what goes on in the space for the client, and posts and answers nothing. A
// client without messages is shown those of the space first; one that has some gets the
// rest of the answer to its newest message, also if that is complete by now.
func (x *protocolRun) connect(ctx context.Context) error {
	x.resumes = true
	if len(x.in.Messages) == 0 {
		if err := x.view.had.take(timeline(x.Snapshot)); err != nil {
			return err
		}
	} else if own, ok := x.NewestOwn(); ok {
		x.Adopt(own)
	}
	if err := x.WantOwn(ctx); err != nil {
		return err
	}
	if err := x.Find(ctx); err != nil {
		return err
	}
	return x.unused(ctx)
}
