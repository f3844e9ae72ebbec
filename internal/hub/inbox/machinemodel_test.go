package inbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// modelInbox is an inbox as a plain list, and the waits of a machine on it. Bytes choose what
// happens next: posts of this and another server, late deliveries and notifications, lost
// notifications, acknowledgments, and tasks that take any time.
type modelInbox struct {
	machine
	choices []byte
	now     int // the number of choices made

	entries   []*modelEntry
	base      int64                     // as sessionWaits.base
	pending   []*modelEntry             // of this server, not delivered yet
	notes     []int64                   // notifications that have not arrived
	lost      bool                      // a notification was lost since nothing was stale
	waits     []*modelWait              // all
	stored    map[int64]int             // deliveries that are counted, by place
	delivered map[int64][]modelDelivery // by place
	received  map[int64]bool            // by the entity itself, on any server
	wasHeld   bool                      // before the last choice: the entity itself was waiting
	held      int                       // when the entity itself was waiting last
	freed     int                       // answers of adapters
	task      *task                     // in progress
	found     []answer                  // what it has read; nil before its snapshot
	end       int64                     // of the snapshot
	filters   []storage.InboxFilter
	wrong     []string
}

type modelEntry struct {
	storage.InboxEntry
	base    int64
	visible int // when it was committed
	acked   int // when it was acknowledged, 0 if it was not
}

type modelWait struct {
	*wait
	prepared, opened, expired int
	checked                   bool
}

type modelDelivery struct{ number, at int }

// choose returns a number below n.
func (m *modelInbox) choose(n int) int {
	if m.now++; m.now > len(m.choices) {
		return 0
	}
	return int(m.choices[m.now-1]) % n
}

func (m *modelInbox) fail(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf("%d: ", m.now)+fmt.Sprintf(format, args...))
}

// last returns the last place.
func (m *modelInbox) last() int64 { return int64(len(m.entries)) }

// unread returns the unread entries after a place that match a filter, at most two.
func (m *modelInbox) unread(f storage.InboxFilter, after int64) (out []storage.InboxEntry) {
	for _, e := range m.entries {
		if e.acked == 0 && e.Place > after && newDelivery(e.InboxEntry).matches(f) && len(out) < 2 {
			found := e.InboxEntry
			found.Delivery = m.stored[e.Place] + 1
			out = append(out, found)
		}
	}
	return out
}

// ownWait reports whether the entity itself waits.
func (m *modelInbox) ownWait() bool {
	return m.elsewhere || slices.ContainsFunc(m.waits, func(w *modelWait) bool { return w.opened > 0 && w.answer == nil && !w.adapter })
}

// waitElsewhere lets the entity itself begin or end to wait on another server, which may deliver
// what is there.
func (m *modelInbox) waitElsewhere() {
	if m.elsewhere && m.choose(2) == 0 {
		f := m.filters[m.choose(len(m.filters))]
		for _, e := range m.entries {
			if e.acked == 0 && newDelivery(e.InboxEntry).matches(f) {
				m.received[e.Place] = true
			}
		}
		m.handOver(f, m.last())
	}
	m.hold(!m.elsewhere)
}

func (m *modelInbox) post(here bool) {
	reason := []shoal.Reason{shoal.ReasonMention, shoal.ReasonMessage}[m.choose(2)]
	e := &modelEntry{InboxEntry: storage.InboxEntry{Place: m.last() + 1, Reason: reason, Delivery: 1}, visible: m.now}
	e.Space.ID = []shoal.SpaceID{"x", "y"}[m.choose(2)]
	m.entries = append(m.entries, e)
	if !here {
		m.base = e.Place
		m.notes = append(m.notes, e.Place)
		return
	}
	e.base = m.base
	m.pending = append(m.pending, e)
}

// deliver delivers one of the pending messages, in any order.
func (m *modelInbox) deliver() {
	if len(m.pending) == 0 {
		return
	}
	i := m.choose(len(m.pending))
	e := m.pending[i]
	m.pending = slices.Delete(m.pending, i, i+1)
	m.commit(e.InboxEntry, e.base, i == 0)
	m.notes = append(m.notes, e.Place)
}

// arriveOrLose takes the first notification, or loses it.
func (m *modelInbox) arriveOrLose() {
	if len(m.notes) == 0 {
		return
	}
	place := m.notes[0]
	m.notes = m.notes[1:]
	switch m.choose(8) {
	case 0:
		m.lost = true
	case 1:
		m.notify(0)
	default:
		m.notify(place)
	}
}

// prepare acknowledges and makes a wait that opens later.
func (m *modelInbox) prepare() {
	w := &modelWait{wait: &wait{filter: m.filters[m.choose(len(m.filters))], seen: m.notified, clear: unknownPlace, over: m.choose(8) == 0}, prepared: m.now}
	if w.adapter = m.choose(4) == 0; w.adapter {
		m.waits = append(m.waits, w)
		return
	}
	if upTo := int64(m.choose(256)) % (m.last() + 1); m.choose(2) == 0 {
		for _, e := range m.entries {
			if e.Place <= upTo && e.acked == 0 && newDelivery(e.InboxEntry).matches(w.filter) {
				e.acked = m.now
			}
		}
		if len(m.unread(w.filter, upTo)) == 0 && m.last() > 0 {
			w.clear = m.last()
		}
		m.acknowledge(w.filter, upTo)
	}
	m.waits = append(m.waits, w)
}

// pick returns one of the waits that are open, or that are not opened yet.
func (m *modelInbox) pick(open bool) *modelWait {
	var some []*modelWait
	for _, w := range m.waits {
		if (w.opened > 0) == open && w.answer == nil {
			some = append(some, w)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[m.choose(len(some))]
}

// work begins a task, takes its snapshot, or reports it. Deliveries are also counted now and
// then without a read.
func (m *modelInbox) work() {
	switch {
	case m.task == nil:
		if t := m.next(); t.counts != nil || t.waits != nil {
			m.task, m.found = &t, nil
		} else if m.choose(4) == 0 {
			if t = m.count(); t.counts != nil {
				m.task, m.found = &t, nil
			}
		}
	case m.task.waits == nil:
		for _, d := range m.task.counts {
			m.stored[d.Place]++
		}
		m.task = nil
		m.counted()
	case m.found == nil:
		m.end = m.last()
		for i, w := range m.task.waits {
			m.found = append(m.found, answer{entries: m.unread(w.filter, m.task.clear[i])})
		}
	default:
		t := *m.task
		m.task = nil
		m.read(t, m.found, m.end)
	}
}

// act does one thing.
func (m *modelInbox) act() {
	m.wasHeld = m.ownWait()
	switch m.choose(17) {
	case 0, 1:
		m.post(true)
	case 2:
		m.post(false)
	case 3, 4:
		m.deliver()
	case 5, 6, 7:
		m.arriveOrLose()
	case 8, 9:
		m.prepare()
	case 10, 11:
		if w := m.pick(false); w != nil {
			if w.opened = m.now; w.over && w.seen == m.notified && w.clear != unknownPlace {
				w.expired = w.prepared // it does not read: the acknowledgment was its read
			}
			m.open(w.wait)
		}
	case 12:
		if w := m.pick(true); w != nil && !w.over {
			w.expired = m.now
			m.timeUp(w.wait)
		}
	case 13:
		if w := m.pick(true); w != nil && m.choose(3) == 0 {
			m.leave(w.wait, errReadFailed)
		}
	case 14:
		if m.choose(3) == 0 {
			m.waitElsewhere()
		}
	default:
		m.work()
	}
	m.check()
}

// check checks the answers that were given, and that waits which know the inbox know it.
func (m *modelInbox) check() {
	if m.task != nil {
		if t := m.next(); t.counts != nil || t.waits != nil {
			m.fail("a second task begins")
		}
	}
	for i, w := range m.ended {
		if j := slices.IndexFunc(m.waits, func(o *modelWait) bool { return o.wait == w }); m.waits[j].checked || slices.Contains(m.ended[:i], w) {
			m.fail("a wait has two answers")
		}
	}
	if m.ownWait() || m.wasHeld {
		m.held = m.now
	}
	for _, w := range m.waits { // first, because adapters leave what the entity has received
		if w.answer != nil && !w.adapter {
			for _, e := range w.answer.entries {
				m.received[e.Place] = true
			}
		}
	}
	running := map[bool]int{}
	for _, w := range m.waits {
		if w.opened == 0 {
			continue
		}
		if w.over && w.expired == 0 {
			w.expired = m.now
		}
		switch {
		case w.answer == nil:
			if !w.over {
				running[w.adapter]++
			} else if w.adapter && m.ownWait() {
				m.fail("an adapter is open after its time, while the entity itself waits")
			}
			for _, e := range m.entries {
				if m.concerns(e, w) && e.Place <= w.clear {
					m.fail("a wait believes that nothing up to %d matches, and %d does", w.clear, e.Place)
				}
			}
		case !w.checked:
			w.checked = true
			m.checkAnswer(w)
		}
	}
	if max(running[true], running[false]) > shoal.MaxOpenWaits {
		m.fail("%v waits are open", running)
	}
	m.ended = nil
}

// concerns reports whether a wait has to return an entry.
func (m *modelInbox) concerns(e *modelEntry, w *modelWait) bool {
	return e.acked == 0 && newDelivery(e.InboxEntry).matches(w.filter) && !w.isHeld(m.received[e.Place])
}

// checkAnswer checks that an answer has what a reader of the list would find at one moment:
// everything that matches in its order, from the first on, each under a new number.
func (m *modelInbox) checkAnswer(w *modelWait) {
	a := *w.answer
	if w.adapter && len(a.entries) > 0 {
		if m.freed++; m.wasHeld {
			m.fail("an adapter got %d while the entity itself waited", a.entries[0].Place)
		}
	}
	upTo := int64(0)
	for _, e := range a.entries {
		if e.Place <= upTo || !newDelivery(e).matches(w.filter) {
			m.fail("a wait got %d after %d", e.Place, upTo)
		}
		upTo = e.Place
		if acked := m.entries[e.Place-1].acked; acked > 0 && acked <= w.prepared {
			m.fail("a wait got %d, which was acknowledged", e.Place)
		}
		for _, d := range m.delivered[e.Place] {
			if d.at < w.prepared && e.Delivery <= d.number {
				m.fail("%d was delivered for the time %d after %d", e.Place, e.Delivery, d.number)
			}
		}
		m.delivered[e.Place] = append(m.delivered[e.Place], modelDelivery{e.Delivery, m.now})
	}
	for _, e := range m.entries {
		matches := m.concerns(e, w)
		got := slices.ContainsFunc(a.entries, func(o storage.InboxEntry) bool { return o.Place == e.Place })
		if matches && !got && e.Place < upTo {
			m.fail("a wait got %d without %d", upTo, e.Place)
		}
		if matches && len(a.entries) == 0 && a.err == nil && e.visible < w.expired && !w.isHeld(m.held >= w.expired) {
			m.fail("a wait timed out without %d, which was there before", e.Place)
		}
	}
}

// settle performs everything that is left. Then no open wait has missed anything, unless a
// notification was lost, and what a lost one was about comes with the time-out.
func (m *modelInbox) settle() {
	m.choices = m.choices[:min(m.now, len(m.choices))]
	rest := func() {
		for range 1000 {
			m.wasHeld = m.ownWait()
			m.deliver()
			if m.arriveOrNot(); m.task != nil || slices.ContainsFunc(m.machine.waits, func(w *wait) bool { return w.stale && !w.isHeld(m.ownWait()) }) {
				m.work()
			} else if len(m.notes)+len(m.pending) == 0 {
				return
			}
			m.check()
		}
		m.fail("the tasks do not end")
	}
	rest()
	if m.elsewhere {
		m.hold(false)
		rest()
	}
	for _, w := range m.waits {
		for _, e := range m.entries {
			if w.opened > 0 && w.answer == nil && !m.lost && m.concerns(e, w) && !w.isHeld(m.ownWait()) {
				m.fail("a wait sleeps although %d is there", e.Place)
			}
		}
	}
	for _, w := range m.waits {
		if w.opened > 0 && w.answer == nil && !w.over {
			w.expired = m.now
			m.timeUp(w.wait)
		}
	}
	rest()
	m.check()
	if len(m.machine.waits) > 0 || m.busy {
		m.fail("%d waits are open after their time", len(m.machine.waits))
	}
}

// arriveOrNot takes the first notification.
func (m *modelInbox) arriveOrNot() {
	if len(m.notes) > 0 {
		m.notify(m.notes[0])
		m.notes = m.notes[1:]
	}
}

// playModel plays a course and returns it.
func playModel(choices []byte) *modelInbox {
	m := &modelInbox{choices: choices, stored: map[int64]int{}, received: map[int64]bool{}, delivered: map[int64][]modelDelivery{}, filters: []storage.InboxFilter{
		{Kind: shoal.WaitMentions}, {Kind: shoal.WaitMessages}, {Kind: shoal.WaitMessages, Space: "x"},
	}}
	for m.now < len(choices) && len(m.wrong) == 0 {
		m.act()
	}
	m.settle()
	return m
}

// Whatever happens in whatever order, the answers of the machine are those of a plain list.
func TestMachineAgainstModel(t *testing.T) {
	var full, empty, direct, again, adapters int
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		choices := make([]byte, 40+rng.IntN(200))
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		m := playModel(choices)
		for _, wrong := range m.wrong {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		if t.Failed() {
			return
		}
		for _, w := range m.waits {
			switch {
			case w.answer == nil || w.answer.err != nil:
			case len(w.answer.entries) == 0:
				empty++
			case w.answer.woken:
				direct++
			default:
				full++
			}
		}
		adapters += m.freed
		for _, n := range m.delivered {
			if len(n) > 1 {
				again++
			}
		}
	}
	if min(full, empty, direct, again, adapters) < 1000 {
		t.Errorf("the courses cover too little: %d answers at the beginning, %d later, %d time-outs, %d messages delivered again, %d answers of adapters", full, direct, empty, again, adapters)
	}
}

// FuzzMachine plays courses that bytes choose.
func FuzzMachine(f *testing.F) {
	f.Add([]byte("\x08\x00\x05\x01\x01\x0a\x00\x00\x03\x00\x0f\x0f\x0f"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 1000 {
			return
		}
		for _, wrong := range playModel(choices).wrong {
			t.Error(wrong)
		}
	})
}
