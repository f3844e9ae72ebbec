package run

import (
	"time"

	"github.com/shoal-dev/shoal/internal/compose"
)

// draftEvery is how often streaming messages are stored.
const draftEvery = 250 * time.Millisecond

// compose waits until no other goroutine uses the composer, and returns what ends the use.
// The turn writes while it uses it, so the wait may be long: a mutex would stop the clock of
// tests in virtual time.
func (x *execution) compose() (done func()) {
	x.composing <- struct{}{}
	return func() { <-x.composing }
}

// saveDrafts stores the streaming messages, unless it did less than every ago. Then they are
// stored later, also if the model pauses: other servers have nothing else to read. Only a caller
// of compose may call it.
func (x *execution) saveDrafts(every time.Duration) error {
	if time.Since(x.draftsSaved) < every {
		if x.lateDrafts == nil {
			x.lateDrafts = time.AfterFunc(2*every-time.Since(x.draftsSaved), x.saveLateDrafts)
		}
		return nil
	}
	x.cancelLateDrafts()
	x.draftsSaved = time.Now()
	var effects []compose.Effect
	for _, m := range x.composer.Drafts() {
		effects = append(effects, compose.SaveMessage{Message: m})
	}
	return x.perform(effects, nil)
}

// saveLateDrafts stores the streaming messages, unless they were stored while it waited.
func (x *execution) saveLateDrafts() {
	defer x.compose()()
	if x.lateDrafts == nil || x.released.Load() || x.stopCause() != nil {
		return
	}
	if err := recoverPanics(func() error { return x.saveDrafts(0) }); err != nil {
		x.draftsSaved = time.Time{} // the next delta tries again, and reports it
	}
}

// cancelLateDrafts makes a saveLateDrafts that has not begun do nothing. Only a
// caller of compose may call it.
func (x *execution) cancelLateDrafts() {
	if x.lateDrafts != nil {
		x.lateDrafts.Stop()
		x.lateDrafts = nil
	}
}

// endDrafts makes sure that drafts are stored no more.
func (x *execution) endDrafts() {
	defer x.compose()()
	x.cancelLateDrafts()
}
