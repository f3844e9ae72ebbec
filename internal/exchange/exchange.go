// Package exchange is what the doors for chat clients share. One request of such a protocol
// is an exchange: the client says something in a space, or answers what waits for it there,
// and is shown what agents then write into the space, until they have ended or wait for the
// client.
//
//	x, err := exchange.Open(ctx, exchange.Options{Hub: h, Who: who, Session: s, Space: id, Heartbeat: beat})
//	defer x.Close()
//	err = x.Post(ctx, draft, nil, "")
//	err = x.Find(ctx)
//	err = x.Play(ctx, view, client)
//
// The package knows no protocol: a [View] shows what happens in the form of one.
package exchange

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Options say whose exchange it is. All are required.
type Options struct {
	Hub     *hub.Hub
	Who     shoal.Principal // acts as an entity
	Session shoal.SessionID
	Space   shoal.SpaceID
	// Heartbeat is how long Next waits for an event at most.
	Heartbeat time.Duration
}

// Exchange is one request of a chat protocol in a space. It belongs to one goroutine.
type Exchange struct {
	Options
	// Snapshot is the space when the exchange was opened.
	Snapshot shoal.SnapshotData
	// Posted is the message that the client has posted, now or with an earlier request;
	// nil for none.
	Posted *shoal.Message
	// Runs are the runs that are shown.
	Runs map[shoal.RunID]*Run

	follower *feed.Follower
	cursor   shoal.Cursor
	rest     []shoal.Event                   // the events that came with the snapshot
	stale    bool                            // the state of the runs may be out of date
	ahead    bool                            // the state of the runs was read, and may be newer than the events
	causes   map[string]bool                 // the causes whose runs are shown
	messages map[shoal.MessageID]shoal.RunID // the messages of the runs
	beat     time.Time
	kind     shoal.EntityKind // of the caller, once it is read
}

// Run is a run that is shown.
type Run struct {
	shoal.Run
	// Past says that the run had ended before, and not because of this exchange.
	Past bool
}

// Open begins to follow the space, so that nothing of what the exchange causes is missed. It
// fails if the caller may not read the space.
func Open(ctx context.Context, o Options) (x *Exchange, err error) {
	x = &Exchange{Options: o, Runs: map[shoal.RunID]*Run{}, causes: map[string]bool{}, messages: map[shoal.MessageID]shoal.RunID{}}
	x.follower, err = o.Hub.Events.Follow(ctx, o.Who, feed.FollowRequest{Session: o.Session, Space: o.Space})
	if err != nil {
		return nil, err
	}
	events, err := x.follower.Next(ctx, time.Now().Add(o.Heartbeat))
	switch {
	case err != nil:
	case len(events) == 0 || events[0].Type != shoal.EventSnapshot:
		err = shoal.E("exchange", shoal.Internal, "a follower of the space does not begin with a snapshot")
	default:
		x.rest = events[1:]
		x.Snapshot, err = decode[shoal.SnapshotData](events[0])
	}
	if err != nil {
		x.follower.Close()
		return nil, err
	}
	return x, nil
}

// Close ends the exchange. Runs go on.
func (x *Exchange) Close() { x.follower.Close() }

// Post posts a message of the caller. in is what the runs that it starts get from the client,
// nil for nothing, and key makes a repetition harmless, "" for none. Runs that wait for a reply of
// the caller are shown, too.
func (x *Exchange) Post(ctx context.Context, d shoal.Draft, in *storage.ClientInput, key string) error {
	awaited, err := x.awaited(ctx)
	if err != nil {
		return err
	}
	m, err := x.Hub.Messages.PostWithClient(ctx, x.Who, x.Session, x.Space, d, in, key)
	if err != nil {
		return err
	}
	x.Adopt(m)
	for _, run := range awaited {
		x.causes[run.CauseRoot] = true
	}
	return nil
}

// Adopt makes a message that is in the space already the one that the client has posted.
func (x *Exchange) Adopt(m shoal.Message) {
	x.Posted = &m
	x.causes[string(m.ID)] = true
}

// Want shows a run, and all that have the same cause.
func (x *Exchange) Want(ctx context.Context, id shoal.RunID) error {
	run, err := x.Hub.Runs.Get(ctx, x.Who, x.Session, id)
	if err == nil {
		x.want(run)
	}
	return err
}

// want is Want of a run that was just read.
func (x *Exchange) want(run shoal.Run) {
	x.causes[run.CauseRoot] = true
	x.ahead = true
	x.receive(run)
}

// Find finds the existing runs of the message and of those that Want has named. Events report
// later ones. Call it once, before Begin.
func (x *Exchange) Find(ctx context.Context) error {
	if len(x.causes) == 0 {
		return nil
	}
	runs, err := x.Hub.Runs.List(ctx, x.Who, x.Session, storage.RunFilter{Space: x.Space, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	x.ahead = true
	for _, run := range slices.Backward(runs) {
		x.receive(run)
	}
	for _, r := range x.Runs {
		r.Past = r.Status.Ended() && (x.Posted == nil || !x.begun(r.Run))
	}
	return nil
}

// receive records a run as it is now, if it is one that is shown.
func (x *Exchange) receive(run shoal.Run) (shown bool) {
	if r := x.Runs[run.ID]; r != nil {
		r.Run = run
		return true
	}
	if !x.causes[run.CauseRoot] && !x.begun(run) {
		return false
	}
	x.causes[run.CauseRoot] = true
	x.Runs[run.ID] = &Run{Run: run}
	return true
}

// begun reports whether the posted message has started the run.
func (x *Exchange) begun(run shoal.Run) bool {
	return x.Posted != nil && (run.Trigger.MessageID == x.Posted.ID || run.CauseRoot == string(x.Posted.ID))
}

// Waiting returns the open pending actions of the space that the caller may answer.
func (x *Exchange) Waiting(ctx context.Context) ([]shoal.PendingAction, error) {
	return x.Hub.Pending.List(ctx, x.Who, x.Session, storage.PendingFilter{Space: x.Space, Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: shoal.MaxPage})
}

// Nobody returns the error that says why no agent acts on the posted message. mention says how the
// client mentions one.
func (x *Exchange) Nobody(mention string) *shoal.Error {
	if skipped := x.Posted.SkippedAgents; len(skipped) > 0 {
		return shoal.E("exchange", shoal.Busy, "The message is in the space, but "+string(skipped[0])+" is running and takes no second message. Run again with a new message when it is done.")
	}
	return shoal.E("exchange", shoal.NotFound, "The message is in the space, but no hosted agent acts on it. Add one to the space; where there are several, set the space's admin agent or "+mention+". A message of an agent acts only on whom it mentions.")
}

// decode reads the data of an event, which is the hub's own.
func decode[T any](e shoal.Event) (out T, err error) {
	if err = json.Unmarshal(e.Data, &out); err != nil {
		err = &shoal.Error{Op: "exchange", Kind: shoal.Internal, Msg: "an event of type " + string(e.Type) + " cannot be read", Err: err}
	}
	return out, err
}
