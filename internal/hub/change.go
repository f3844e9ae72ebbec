package hub

import (
	"context"
	"runtime"

	"github.com/shoal-dev/shoal"
)

// change is one transaction with the hints that follow from it.
type change struct {
	Tx
	core     *core
	at       shoal.Time
	arrivals []arrival
	hints    []Note
	ends     []func(committed bool)
	// replied are the agents whose wait for a reply a message has satisfied, by
	// message: it starts no run of theirs.
	replied map[shoal.MessageID][]shoal.EntityID
}

// hint wakes whoever watches topic, once the transaction is durable.
func (ch *change) hint(topic string) { ch.hints = append(ch.hints, Note{Topic: topic}) }

// after runs do once it is known whether the transaction is durable, before the
// hints are sent.
func (ch *change) after(do func(committed bool)) { ch.ends = append(ch.ends, do) }

// then runs do once the transaction is durable.
func (ch *change) then(do func()) {
	ch.after(func(committed bool) {
		if committed {
			do()
		}
	})
}

func (ch *change) end(committed bool) {
	if ch == nil {
		return
	}
	for _, do := range ch.ends {
		do(committed)
	}
	ch.ends = nil
}

// change runs fn in one transaction and sends its hints after the commit. It
// sends them too when the outcome is unknown: a needless hint costs a look, a
// missing one would leave a waiter asleep beside its message.
func (c *core) change(ctx context.Context, op string, fn func(*change) error) error {
	var hints []Note
	var last *change
	err := c.store.Update(ctx, func(tx Tx) error {
		last.end(false)
		ch := &change{Tx: tx, core: c, at: shoal.Now()}
		hints, last = nil, ch
		if err := fn(ch); err != nil {
			return err
		}
		hints = ch.hints
		return ch.nameSpaces()
	})
	last.end(err == nil)
	if err == nil {
		for _, a := range last.arrivals {
			c.inbox.arrived(a)
		}
	}
	heard := false
	for _, hint := range hints {
		heard = heard || c.bus.Watched(hint.Topic)
		c.bus.Publish(hint)
	}
	if heard {
		// Who was woken goes first. Otherwise it waits here until the answer of this
		// call is written: another thread takes longer to wake than that.
		runtime.Gosched()
	}
	return wrap(op, err)
}
