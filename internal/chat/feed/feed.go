// Package feed brings what happens in a session to whoever shows it, in batches
// that come no faster than a screen is drawn.
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
// It promises:
//   - Events come in their order, none is lost and none doubled, also over lost
//     connections: [client.Session.Follow] resumes.
//   - At most [Bound] events wait to be taken. Whoever takes them too slowly slows
//     the stream down, in the end so far that the server cuts it and it resumes.
//   - Stop waits until the one goroutine has ended.
package feed

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
)

const (
	// Bound is how many events wait to be taken.
	Bound = 256
	// Frame is how long a batch gathers: thirty of them make a second.
	Frame = time.Second / 30
	// batchMost bounds a batch.
	batchMost = 2000
)

// item is an event, or what happened to the connection, or the end.
type item struct {
	event shoal.Event
	lost  error
	back  bool
	end   error
}

// Batch is what happened, in order.
type Batch []item

// Into tells a state what happened. The first event that cannot be read is the
// error; the rest is taken all the same.
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

// Lost returns why the connection was lost in this batch, nil if it was not.
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

// Start follows until ctx ends or Stop.
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
	options := client.FollowOptions{Lost: func(cause error) { put(item{lost: cause}) }, Back: func() { put(item{back: true}) }}
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

// Next waits until something happens, gathers for a [Frame] what happens next, and
// returns it. It ends with the error that ended the stream, or the cause of ctx.
// One goroutine may call it at a time.
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
				f.items <- in // there is room: its sender was the only one, and has ended
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

// Stop ends the stream and waits for that.
func (f *Feed) Stop() {
	f.stop()
	<-f.done
}

// Page chooses the messages of a space from a seq on, as many as fit into one page.
func Page(from int64) client.MessagesOptions {
	return client.MessagesOptions{Before: from + shoal.MaxPage, Limit: shoal.MaxPage}
}
