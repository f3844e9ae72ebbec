// Package feed delivers the events of a session in batches, at most as often as a screen is
// redrawn.
//
//	f := feed.Start(ctx, session)
//	defer f.Stop()
//	for {
//		batch, err := f.Next(ctx)
//		if err != nil {
//			return err
//		}
//		if err := batch.Into(state); err != nil {
//			return err
//		}
//	}
//
// Guarantees:
//   - Events arrive in order, without losses or duplicates, also across lost connections:
//     [client.Session.Follow] resumes.
//   - At most [Bound] events are queued. A slow reader slows the stream down, until the server
//     closes it and it resumes.
//   - Stop waits until the goroutine has ended.
package feed

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
)

const (
	// Bound is the capacity of the event queue.
	Bound = 256
	// Frame is the time in which a batch is collected: thirty batches per second.
	Frame = time.Second / 30
	// batchMost limits the items of a batch.
	batchMost = 2000
)

// item is an event, a change of the connection, or the end of the stream.
type item struct {
	event shoal.Event
	lost  error
	back  bool
	end   error
}

// Batch contains events and connection changes, in order.
type Batch []item

// Into applies the batch to a state. It returns the first decoding error, and applies the
// other events in any case.
func (b Batch) Into(s *chat.State) (err error) {
	for _, in := range b {
		switch {
		case in.lost != nil:
			s.Lost()
		case in.back:
			s.Back()
		default:
			if wrong := s.Apply(in.event); err == nil {
				err = wrong
			}
		}
	}
	return err
}

// Events yields the events of a batch.
func (b Batch) Events(yield func(shoal.Event) bool) {
	for _, in := range b {
		if in.event.Type != "" && !yield(in.event) {
			return
		}
	}
}

// Lost returns why the connection was lost in this batch, or nil.
func (b Batch) Lost() (cause error) {
	for _, in := range b {
		if in.lost != nil {
			cause = in.lost
		}
	}
	return cause
}

// Feed is a stream of all spaces of the caller.
type Feed struct {
	items chan item
	stop  context.CancelFunc
	done  chan struct{}
}

// Start follows the session until ctx ends or Stop is called.
func Start(ctx context.Context, session *client.Session) *Feed {
	ctx, stop := context.WithCancel(ctx)
	f := &Feed{items: make(chan item, Bound), stop: stop, done: make(chan struct{})}
	go f.follow(ctx, session)
	return f
}

func (f *Feed) follow(ctx context.Context, session *client.Session) {
	defer close(f.done)
	put := func(in item) bool {
		select {
		case f.items <- in:
			return true
		case <-ctx.Done():
			return false
		}
	}
	options := client.FollowOptions{OnDisconnect: func(cause error) { put(item{lost: cause}) }, OnConnect: func() { put(item{back: true}) }}
	for event, err := range session.Follow(ctx, options) {
		if err != nil {
			put(item{end: err})
			return
		}
		if !put(item{event: event}) {
			return
		}
	}
}

// Next waits for an event, collects further events for a [Frame], and returns them. At the end
// it returns the error that ended the stream, or the cause of ctx. Only one goroutine may call
// it at a time.
func (f *Feed) Next(ctx context.Context) (Batch, error) {
	var batch Batch
	select {
	case in := <-f.items:
		if in.end != nil {
			return nil, in.end
		}
		batch = append(batch, in)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	frame := time.NewTimer(Frame)
	defer frame.Stop()
	for len(batch) < batchMost {
		select {
		case in := <-f.items:
			if in.end != nil {
				f.items <- in // there is room: the only sender has ended
				return batch, nil
			}
			batch = append(batch, in)
		case <-frame.C:
			return batch, nil
		case <-ctx.Done():
			return batch, nil
		}
	}
	return batch, nil
}

// Stop ends the stream and waits for its goroutine.
func (f *Feed) Stop() {
	f.stop()
	<-f.done
}

// Page selects one page of the messages of a space, starting at a seq.
func Page(from int64) client.MessagesOptions {
	return client.MessagesOptions{Before: from + shoal.MaxPage, Limit: shoal.MaxPage}
}
