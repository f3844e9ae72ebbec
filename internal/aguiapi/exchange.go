package aguiapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// exchange is one run of the protocol: what the client asks, and what it is shown.
// It belongs to the goroutine of the request.
type exchange struct {
	*API
	who     shoal.Principal
	session shoal.SessionID
	space   shoal.SpaceID
	in      *agui.Input

	follower *feed.Follower
	cursor   shoal.Cursor
	snapshot shoal.SnapshotData
	rest     []shoal.Event // what came with the snapshot
	stale    bool          // the state of the runs may be out of date

	roots    map[string]bool                 // causes whose runs are shown
	runs     map[shoal.RunID]*followed       // the runs that are shown
	messages map[shoal.MessageID]shoal.RunID // their messages
	posted   *shoal.Message                  // what the client said, if it was new
	ignored  []ignored                       // what the client sent in vain
	sent     *storage.ClientInput            // what runs get of the input, nil for nothing
	view     *projection
	out      *stream
}

// followed is a run that is shown.
type followed struct {
	shoal.Run
	// past says that the run had ended before, and not because of what was asked.
	past bool
}

// prepare does what needs no right but to follow the space.
func (a *API) prepare(r *http.Request) (*exchange, error) {
	who, err := a.Auth.Bearer(r)
	if err != nil {
		return nil, err
	}
	switch {
	case who.EntityID != "":
	case who.Admin():
		return nil, shoal.E("aguiapi", shoal.EntityRequired, "Name the entity that you act as in the header X-Shoal-Entity, or use an entity key.")
	default:
		return nil, shoal.E("aguiapi", shoal.Forbidden, "A service acts as no entity; use an entity key.")
	}
	x := &exchange{
		API: a, who: who, session: shoal.SessionID(r.PathValue("session")), space: shoal.SpaceID(r.PathValue("space")),
		roots: map[string]bool{}, runs: map[shoal.RunID]*followed{}, messages: map[shoal.MessageID]shoal.RunID{},
	}
	if err := a.Limits.Call(who); err != nil {
		return nil, err
	}
	a.Auth.RecordCall(who, x.session)
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
	if err := a.Limits.Open(who); err != nil {
		return nil, err
	}
	if err := x.open(r.Context()); err != nil {
		x.close()
		a.Limits.Close(who)
		return nil, err
	}
	return x, nil
}

// open begins to follow the space, before anything happens that is to be shown.
func (x *exchange) open(ctx context.Context) (err error) {
	x.follower, err = x.Hub.Events.Follow(ctx, x.who, feed.FollowRequest{Session: x.session, Space: x.space})
	if err != nil {
		return err
	}
	events, err := x.follower.Next(ctx, time.Now().Add(x.Heartbeat))
	if err != nil {
		return err
	}
	if len(events) == 0 || events[0].Type != shoal.EventSnapshot {
		return shoal.E("aguiapi", shoal.Internal, "a follower of the space does not begin with a snapshot")
	}
	x.rest = events[1:]
	x.snapshot, err = decode[shoal.SnapshotData](events[0])
	return err
}

func (x *exchange) close() {
	if x.follower != nil {
		x.follower.Close()
	}
}

// ask does what the client wants, and finds the runs that follow from it.
func (x *exchange) ask(ctx context.Context) error {
	if err := x.answer(ctx); err != nil {
		return err
	}
	if err := x.post(ctx); err != nil {
		return err
	}
	if err := x.find(ctx); err != nil {
		return err
	}
	return x.unused(ctx)
}

// find finds the existing runs of the causes. Events report later ones.
func (x *exchange) find(ctx context.Context) error {
	if len(x.roots) == 0 {
		return nil
	}
	runs, err := x.Hub.Runs.List(ctx, x.who, x.session, storage.RunFilter{Space: x.space, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	for _, run := range slices.Backward(runs) {
		x.heard(run)
	}
	for _, f := range x.runs {
		f.past = f.Status.Ended() && (x.posted == nil || !x.begun(f.Run))
	}
	return nil
}

// heard takes a run as it is now, if it is one that is shown.
func (x *exchange) heard(run shoal.Run) (shown bool) {
	if f := x.runs[run.ID]; f != nil {
		f.Run = run
		return true
	}
	if !x.roots[run.CauseRoot] && !x.begun(run) {
		return false
	}
	x.roots[run.CauseRoot] = true
	x.runs[run.ID] = &followed{Run: run}
	return true
}

// begun reports whether the run was started by what the client said.
func (x *exchange) begun(run shoal.Run) bool {
	return x.posted != nil && (run.Trigger.MessageID == x.posted.ID || run.CauseRoot == string(x.posted.ID))
}
