package feed

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// The window of a feed: the pump writes to it and the followers read it.

// push appends one event, drops the oldest ones beyond the bounds, and wakes the followers.
func (f *feed) push(en entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	en.after = f.last
	f.window = append(f.window, en)
	f.bytes += len(en.event.Data)
	f.last = max(f.last, en.position)
	if en.position != 0 {
		f.stored++
	}
	for len(f.window) > 1 && (f.stored > feedEvents || len(f.window) > feedEntries || f.bytes > feedBytes) {
		oldest := f.window[0]
		f.bytes -= len(oldest.event.Data)
		f.window = f.window[1:]
		f.base++
		if oldest.position != 0 {
			f.lost = f.base
			f.stored--
		}
	}
	f.wake()
}

// advanceTo records that the events up to a position are read, without an event for the
// window.
func (f *feed) advanceTo(position int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last, position)
}

func (f *feed) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		err = core.ErrStopping
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	f.wake()
}

// failure returns why the feed has ended, or nil while it runs.
func (f *feed) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// wake wakes the followers. f.mu must be held.
func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// end returns the index after the newest entry, and the position up to which stored events
// have been through the window.
func (f *feed) end() (index, last int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.base + int64(len(f.window)), f.last
}

// entriesFrom returns the entries from index on and the index after them. If there are none
// yet, it returns a channel that is closed once there are. Ephemeral events that fell out
// of the window are skipped; a follower that missed a stored event fails with errTooSlow.
// The entries must not be changed.
func (f *feed) entriesFrom(index int64) ([]entry, int64, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < f.lost {
		return nil, index, nil, errTooSlow
	}
	index = max(index, f.base)
	if fresh := f.window[index-f.base:]; len(fresh) > 0 {
		return fresh, index + int64(len(fresh)), nil, nil
	}
	return nil, index, f.changed, f.err
}

// requestLoad makes the pump read the store without a notification.
func (f *feed) requestLoad() {
	select {
	case f.loadRequests <- struct{}{}:
	default:
	}
}

// errTooSlow ends a follower that lags more than the window allows.
var errTooSlow = &shoal.Error{
	Kind: shoal.Busy, Msg: "This reader was too slow. Connect again with the id of the last event that you received: nothing is lost.",
}
