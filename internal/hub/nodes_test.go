package hub_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// Followers on every node have of each part the stored text, whatever the bus between the
// nodes loses, doubles and delays, and whichever node executes the run. What the bus has
// lost arrives soon after. SHOAL_NODE_SEEDS is the number of courses.
func TestStreamingBetweenNodes(t *testing.T) {
	playNodes(t, setting.Repeats(60, 20), func(rnd *rand.Rand, seed uint64) network { return newLinkedBuses(3, rnd, seed%2 == 1) })
}

// The same over the bus between servers, on a wire that loses and doubles frames and is cut.
func TestStreamingOverWire(t *testing.T) {
	playNodes(t, setting.Repeats(30, 15), func(rnd *rand.Rand, _ uint64) network { return newWireNetwork(3, rnd) })
}

// network is what connects the nodes.
type network interface {
	// bus returns the bus of a node, a new one if restarted is set.
	bus(node int, restarted bool) core.Bus
	// started connects a node whose hub was started.
	started(node int, h *hub.Hub) error
	set(linkFaults)
	// healTime is the time within which followers have what was lost, once nothing is lost any
	// more.
	healTime() time.Duration
	close()
}

func playNodes(t *testing.T, seeds int, connect func(rnd *rand.Rand, seed uint64) network) {
	if n, err := strconv.Atoi(os.Getenv("SHOAL_NODE_SEEDS")); err == nil {
		seeds = n
	}
	seen := map[string]int{}
	for seed := range seeds {
		if *onlySeed != 0 {
			seed = int(*onlySeed)
		}
		ok := t.Run(strconv.Itoa(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newNodesSim(t, uint64(seed), seen, connect(newStreamRand(uint64(seed)), uint64(seed)))
				defer p.stop()
				for range 60 {
					p.step()
				}
				p.checkHealed()
				p.finish()
			})
		})
		if !ok || *onlySeed != 0 {
			return
		}
	}
	t.Log(seen)
	wanted := []string{"taken over", "killed", "late delta of an old owner", "connected elsewhere", "down", "checked while notifications are lost"}
	if !testing.Short() { // in one course of twenty or so
		wanted = append(wanted, "late write of an old owner")
	}
	for _, what := range wanted {
		if seen[what] == 0 {
			t.Errorf("no course has %q", what)
		}
	}
}

// nodesSim is a simulated run that three nodes execute in turn.
type nodesSim struct {
	*streamSim
	net     network
	hubs    []*hub.Hub
	owner   int
	old     []oldOwner
	savedAt time.Time // when the drafts were stored
	dirty   bool      // deltas were relayed since
	seen    map[string]int
}

// oldOwner is a node that was paused while it executed the run: it does not know that
// another has taken the run over.
type oldOwner struct {
	node  int
	lease runs.Lease
	delta live.Delta // its next one
	text  string     // of the part
}

func newNodesSim(t *testing.T, seed uint64, seen map[string]int, net network) *nodesSim {
	p := &nodesSim{seen: seen, net: net, hubs: make([]*hub.Hub, 3), streamSim: &streamSim{
		t: t, rnd: newStreamRand(seed ^ 1<<32), store: &hookStore{Store: shoaltest.OpenSQLite(t)}, long: seed%4 == 3, nodes: true,
		partTexts: map[shoal.PartID]string{}, saved: map[shoal.PartID]bool{}, rest: map[shoal.PartID]string{},
		versions: map[shoal.PartID][]string{},
	}}
	p.bus = &lossyBus{} // it has nothing to lose or hold
	for i := range p.hubs {
		p.startNode(i, false)
	}
	p.hub = p.hubs[0]
	p.populate()
	for i, kind := range slices.Concat(readerKinds, readerKinds) {
		node := i % len(p.hubs)
		r := newStreamReader(p.streamSim, kind, nil)
		r.on = func() *hub.Hub {
			if p.rnd.IntN(4) == 0 {
				node = p.rnd.IntN(len(p.hubs))
				p.seen["connected elsewhere"]++
			}
			r.node = node
			return p.hubs[node]
		}
		p.readers = append(p.readers, r)
	}
	return p
}

func (p *nodesSim) startNode(i int, again bool) {
	p.hubs[i] = hub.New(hub.Options{Store: p.store, Bus: p.net.bus(i, again)})
	p.must(p.hubs[i].Start(context.Background()))
	p.must(p.net.started(i, p.hubs[i]))
}

func (p *nodesSim) stop() {
	for _, r := range p.readers {
		r.cut(0)
	}
	for _, h := range p.hubs {
		h.Stop()
	}
	p.net.close()
}

func (p *nodesSim) step() {
	part := p.streamingPart()
	switch n := p.rnd.IntN(100); {
	case n < 30 && part != nil:
		for range 1 + p.rnd.IntN(5) {
			p.write(part)
		}
	case n < 40 && len(p.partTexts) < 7: // a cursor has room for them and for reasoning
		p.begin()
	case n < 43 && part != nil:
		p.reset(part)
	case n < 45 && part != nil:
		p.remove(part)
	case n < 48 && part != nil:
		p.end(part)
	case n < 50 && p.open != nil:
		p.close()
	case n < 53:
		p.reason()
	case n < 57:
		p.takeOver(p.rnd.IntN(2) == 0)
	case n < 61 && len(p.old) > 0:
		p.actOfOldOwner()
	case n < 68:
		p.changeFaults()
	case n < 72:
		p.checkHealed()
	case n < 76:
		p.checkLive()
	case n < 84:
		p.advance(time.Duration(p.rnd.IntN(400)) * time.Millisecond)
	default:
		p.readers[p.rnd.IntN(len(p.readers))].act()
	}
}

// write relays a delta. It stores the drafts if they are old, as executors do.
func (p *nodesSim) write(part *shoal.Part) {
	p.delta(part)
	p.dirty = true
	p.saveOld(250 * time.Millisecond)
}

func (p *nodesSim) saveOld(after time.Duration) {
	if p.dirty && p.open != nil && time.Since(p.savedAt) >= after {
		p.save()
		p.savedAt, p.dirty = time.Now(), false
	}
}

// advance lets time pass. The executing node stores the drafts also when no delta follows, a
// little later.
func (p *nodesSim) advance(d time.Duration) {
	for ; d > 0; d -= 50 * time.Millisecond {
		<-time.After(min(d, 50*time.Millisecond))
		p.saveOld(500 * time.Millisecond)
	}
	synctest.Wait()
}

// advanceReading is advance while all connected readers read.
func (p *nodesSim) advanceReading(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		p.advance(min(time.Until(end), 50*time.Millisecond))
		for _, r := range p.readers {
			r.readEvents()
		}
	}
}

func (p *nodesSim) changeFaults() {
	f := linkFaults{}
	switch p.rnd.IntN(6) {
	case 0:
		f.down = true
		p.seen["down"]++
	case 1:
		f.delay = 200 * time.Millisecond
	case 2, 3:
		f = linkFaults{drop: 0.3, double: 0.3, delay: 50 * time.Millisecond}
	case 4:
		f.drop = 0.1
	}
	p.net.set(f)
}

// takeOver makes another node claim the run. The old owner is killed, or continues without
// knowing.
func (p *nodesSim) takeOver(kill bool) {
	before := p.owner
	p.owner = (before + 1 + p.rnd.IntN(len(p.hubs)-1)) % len(p.hubs)
	p.hub = p.hubs[p.owner]
	p.old = slices.DeleteFunc(p.old, func(o oldOwner) bool { return o.node == before || o.node == p.owner })
	if kill {
		p.seen["killed"]++
		for _, r := range p.readers {
			if r.node == before {
				r.cut(p.rnd.IntN(3))
			}
		}
		p.hubs[before].Stop()
		p.startNode(before, true)
	} else if part := p.streamingPart(); part != nil {
		p.old = append(p.old, oldOwner{before, p.lease, live.Delta{Space: "shop", Message: p.open.ID, Part: part.ID, Offset: len(p.partTexts[part.ID]), Text: "OLD"}, p.partTexts[part.ID]})
	}
	p.seen["taken over"]++
	p.reasoningPart = ""
	p.takeLease()
	if p.dirty = false; p.open == nil {
		return
	}
	p.must(p.hub.Work.Read(context.Background(), func(tx storage.Tx) error {
		m, err := tx.Message(shoal.DefaultSession, "shop", p.open.ID)
		p.open = &m
		return err
	}))
	for i := range p.open.Parts {
		part := &p.open.Parts[i]
		if _, streaming := p.partTexts[part.ID]; streaming {
			p.partTexts[part.ID], part.Text = part.Text, ""
			p.versions[part.ID] = append(p.versions[part.ID], p.partTexts[part.ID])
		}
	}
}

// actOfOldOwner lets a node that was paused continue. It learns with its first write that
// another executes the run.
func (p *nodesSim) actOfOldOwner() {
	i := p.rnd.IntN(len(p.old))
	o := &p.old[i]
	if p.rnd.IntN(4) > 0 {
		p.seen["late delta of an old owner"]++
		o.text += o.delta.Text
		p.versions[o.delta.Part] = append([]string{o.text}, p.versions[o.delta.Part]...)
		p.hubs[o.node].Work.Relay(o.lease, []live.Delta{o.delta})
		o.delta.Offset += len(o.delta.Text)
		return
	}
	p.seen["late write of an old owner"]++
	err := p.hubs[o.node].Work.Write(p.t.Context(), o.lease, func(*runs.RunChange) error { return nil })
	if !errors.Is(err, runs.ErrLeaseLost) {
		p.t.Fatalf("a write of an old owner: %v, want that the lease is lost", err)
	}
	p.old = slices.Delete(p.old, i, i+1)
}

// checkHealed ends the faults. All connected readers then have the current texts.
func (p *nodesSim) checkHealed() {
	p.net.set(linkFaults{})
	p.advanceReading(p.net.healTime())
	for _, r := range p.readers {
		if r.follower == nil {
			continue
		}
		r.handle(len(r.queue))
		r.checkHas(p.partTexts, true)
	}
}

// checkLive writes for a second while some notifications are lost. Then all connected readers
// have what was there before.
func (p *nodesSim) checkLive() {
	part := p.streamingPart()
	if part == nil || p.partTexts[part.ID] == "" {
		return
	}
	p.seen["checked while notifications are lost"]++
	p.net.set(linkFaults{drop: 0.2, double: 0.2, delay: 20 * time.Millisecond})
	p.advance(p.net.healTime()) // what the faults before have caused is over
	before := map[shoal.PartID]string{part.ID: p.partTexts[part.ID]}
	for range 20 {
		p.advanceReading(50 * time.Millisecond)
		p.write(part)
	}
	for _, r := range p.readers {
		if r.follower != nil {
			r.handle(len(r.queue))
			r.checkHas(before, false)
		}
	}
}

// checkHas checks that the reader has these texts of the open message, and more only if it
// is not exact. The arguments of tools are not in drafts: they may arrive at their end.
func (r *streamReader) checkHas(texts map[shoal.PartID]string, exact bool) {
	if r.open == nil || r.messages[r.open.ID] == nil {
		if r.open != nil {
			r.fail("does not know message %s", r.open.ID)
		}
		return
	}
	for _, part := range r.open.Parts {
		want, streaming := texts[part.ID]
		if !streaming || part.Type != shoal.TextPart {
			continue
		}
		have, known := r.text[string(r.open.ID)+"/"+string(part.ID)]
		if !known || len(have) < len(want) || have[:len(want)] != want || exact && have != want {
			r.fail("%s on node %d has %q (%v) of %s, want %q", fmt.Sprint(time.Now().UnixMilli()), r.node, have, known, part.ID, want)
		}
	}
}

// A reader that is so slow that the deltas of another node have fallen out of the window
// continues with the draft.
func TestSlowReaderOnAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newNodesSim(t, 1, map[string]int{}, newLinkedBuses(3, newStreamRand(1), false))
		defer p.stop()
		p.begin()
		for p.open.Parts[0].Type != shoal.TextPart {
			p.close()
			p.begin()
		}
		r := p.readers[0]
		r.on = func() *hub.Hub { return p.hubs[1] }
		r.connect()
		p.advanceReading(p.net.healTime()) // until drafts are read no more
		const more = 9000                  // than a window has
		for n := range more {
			p.delta(&p.open.Parts[0])
			if n%500 == 0 {
				synctest.Wait() // the queue of a subscription is bounded
			}
		}
		p.save()
		p.advanceReading(time.Second)
		r.handle(len(r.queue))
		r.checkHas(p.partTexts, true)
	})
}
