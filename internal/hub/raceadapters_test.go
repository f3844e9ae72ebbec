package hub_test

import (
	"math/rand/v2"

	"github.com/shoal-dev/shoal"
)

// adapter waits for the first entity as a program that wakes its model does, with one of the keys
// with which the entity itself waits.
func (r *race) adapter(rng *rand.Rand) {
	for range rng.IntN(4) {
		idle(rng)
		c := &waitCall{entity: r.entities[0], key: "key0", request: r.request(rng)}
		c.request.Adapter = &shoal.WaitAdapter{Kind: "claude-hook"}
		if d := r.wait(rng, c); d != nil {
			d.Settle(true)
		}
	}
}

// isAdapter reports whether a program waited.
func (c *waitCall) isAdapter() bool { return c.request.Adapter != nil }

// answering is how long a wait may take to return after it has got its answer: then it is not open
// any more.
const answering = 30*longestPause + 5*longStall

// ownBeside reports whether the entity itself may have waited at some time of the call.
func (b *raceChecker) ownBeside(c *waitCall) bool {
	for _, o := range b.calls {
		if o.entity == c.entity && !o.isAdapter() && !o.begun.After(c.ended) && !o.ended.Before(c.begun) {
			return true
		}
	}
	return false
}

// checkAdapter checks that the wait of a program returned nothing while the entity itself waited, and
// only what was unread.
func (b *raceChecker) checkAdapter(c *waitCall) {
	if !c.isAdapter() || c.err != nil {
		return
	}
	if c.result.TimedOut {
		if b.ownBeside(c) {
			b.heldBack++
		}
		return
	}
	b.adapters++
	for _, o := range b.calls {
		if o.entity == c.entity && !o.isAdapter() && o.err == nil && !o.surelyOpen().After(c.begun) && o.ended.After(c.ended.Add(answering)) {
			b.fail("%v returned %v, while %v was open", c, b.idsOf(c), o)
		}
	}
	for _, m := range c.messages() {
		e := b.entry(c.entity, m.ID)
		if e == nil || e.came >= c.hi || e.gone < c.lo || !matches(e, c.filter()) {
			b.fail("%v returned %s, which was not unread", c, m.ID)
		}
	}
}
