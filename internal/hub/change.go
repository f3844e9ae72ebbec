package hub

import (
	"context"
	"runtime"

	"github.com/shoal-dev/shoal"
)

// change is one transaction with the notifications that follow from it.
type change struct {
	Tx
	core     *core
	at       shoal.Time
	arrivals []arrival
	hints    []Note
	ends     []func(committed bool)
	// replied lists, for each message, the agents whose wait for a reply it has
	// satisfied. The message starts no runs of these agents.
	replied map[shoal.MessageID][]shoal.EntityID
}

// hint notifies the subscribers of topic once the transaction is durable.
func (ch *change) hint(topic string) { ch.hints = append(ch.hints, Note{Topic: topic}) }

// after registers do to run once it is known whether the transaction is durable, before
// the notifications are sent.
func (ch *change) after(do func(committed bool)) { ch.ends = append(ch.ends, do) }

// then registers do to run once the transaction is durable.
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

// change runs fn in one transaction and sends its notifications after the commit. It
// also sends them when the outcome is unknown: an unnecessary notification costs one
// read, a missing one would leave a wait asleep although its message is stored.
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
			c.onArrival(a)
		}
	}
	heard := false
	for _, hint := range hints {
		heard = heard || c.bus.Watched(hint.Topic)
		c.bus.Publish(hint)
	}
	if heard {
		// Let the woken goroutines run first. Otherwise they wait until the response of
		// this call is written: waking another thread takes longer than that.
		runtime.Gosched()
	}
	return wrap(op, err)
}
