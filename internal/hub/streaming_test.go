package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// Every follower of streaming messages, however late, interrupted or lossy, has of each
// part the stored text, in deltas that fit together, and receives no event twice. A random
// run opens, extends, resets, removes and ends parts, closes messages, streams reasoning,
// and loses its server. Followers join, read late, are disconnected in the middle of a
// result, and resume.
func TestStreamingMessages(t *testing.T) {
	const seeds = 20
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newStreamSim(t, uint64(seed))
				defer p.stop()
				for range 120 {
					p.step()
				}
				p.finish()
			})
		})
	}
}

// lossyBus drops some ephemeral events. It can hold bus messages back and release them at
// once, so that notifications are merged.
type lossyBus struct {
	core.Bus
	rate float64

	mu    sync.Mutex
	rnd   *rand.Rand
	held  bool
	notes []core.Notification
}

func (b *lossyBus) Publish(n core.Notification) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case n.Event != nil && b.rnd.Float64() < b.rate:
	case b.held:
		b.notes = append(b.notes, n)
	default:
		b.Bus.Publish(n)
	}
}

func (b *lossyBus) hold(held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = held
	for _, n := range b.notes {
		b.Bus.Publish(n)
	}
	b.notes = nil
}

// hookStore calls a function before one of the next reads.
type hookStore struct {
	storage.Store
	mu   sync.Mutex
	left int
	do   func()
}

func (s *hookStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	s.mu.Lock()
	s.left--
	do := s.do
	if s.left != 0 {
		do = nil
	}
	s.mu.Unlock()
	if do != nil {
		do()
	}
	return s.Store.View(ctx, fn)
}

func (s *hookStore) beforeRead(reads int, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.do = reads, do
}

// streamSim is a simulated run, and what followers should receive of it.
type streamSim struct {
	t             *testing.T
	rnd           *rand.Rand
	store         *hookStore
	bus           *lossyBus
	hub           *hub.Hub
	lease         runs.Lease
	open          *shoal.Message
	partTexts     map[shoal.PartID]string   // of the streaming parts
	saved         map[shoal.PartID]bool     // whether the part is stored
	rest          map[shoal.PartID]string   // text that a crash has lost and that is streamed again
	versions      map[shoal.PartID][]string // texts that a part has had, each until it was reset
	count         int
	reasoningPart string
	reasoningText string
	readers       []*streamReader
	long          bool // ids are as long as those of runs
	nodes         bool // for several nodes: a part is stored when it opens or is reset, and readers may learn of that late
}

// name returns an id. With long ids, a cursor has no room for all parts.
func (p *streamSim) name(prefix string, n int) string {
	if p.long {
		return fmt.Sprintf("%s%040d", prefix, n)
	}
	return fmt.Sprint(prefix, n)
}

func newStreamSim(t *testing.T, seed uint64) *streamSim {
	p := &streamSim{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: &hookStore{Store: shoaltest.OpenSQLite(t)}, long: seed%4 > 1}
	p.bus = &lossyBus{Bus: localbus.New(), rnd: newStreamRand(seed), rate: []float64{0, 0.3}[seed%2]}
	p.start()
	p.populate()
	for _, kind := range readerKinds {
		p.readers = append(p.readers, newStreamReader(p, kind, func() *hub.Hub { return p.hub }))
	}
	return p
}

// readerKinds are what readers follow: a space, all of their own, a run and a session.
var readerKinds = []string{"space", "space", "own", "run", "session"}

// populate makes the participants, the space and the run.
func (p *streamSim) populate() {
	admin := shoal.Principal{Role: shoal.RoleAdmin}
	for _, e := range []shoal.NewEntity{{ID: "ann", Kind: shoal.Human}, {ID: "bot", Kind: shoal.Agent}} {
		p.must(second(p.hub.Entities.Create(p.t.Context(), admin, shoal.DefaultSession, e, "")))
	}
	p.must(second(p.hub.Spaces.Create(p.t.Context(), admin, shoal.DefaultSession, shoal.NewSpace{
		ID: "shop", Name: "Shop", Members: []shoal.EntityID{"ann", "bot"}, ShowAgentReasoning: true,
	}, "")))
	p.lease = runs.Lease{Session: shoal.DefaultSession, Run: "run_1"}
	p.must(p.store.Update(p.t.Context(), storage.Global, func(tx storage.Tx) error { return tx.InsertRun(p.run()) }))
	p.takeLease()
}

func second[T any](_ T, err error) error { return err }

func (p *streamSim) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *streamSim) run() storage.Run {
	return storage.Run{
		Run: shoal.Run{
			ID: "run_1", SessionID: shoal.DefaultSession, AgentID: "bot", Status: shoal.RunRunning, CauseRoot: "x", MaxSteps: 5, CreatedAt: shoal.Now(),
			Trigger:          shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: "test", Payload: json.RawMessage(`{}`)},
			PendingToolCalls: []shoal.PendingToolCall{}, Usage: shoal.Usage{Currency: shoal.Currency},
		},
		Version: 1, Space: "shop", Requester: "test", NotBefore: shoal.Now(), Conversation: "bot/shop", Turn: json.RawMessage(`{}`),
	}
}

// takeLease ends the lease of the run and claims it.
func (p *streamSim) takeLease() {
	p.must(p.store.Update(p.t.Context(), storage.Global, func(tx storage.Tx) error {
		r, err := tx.Run(shoal.DefaultSession, "run_1")
		if err != nil {
			return err
		}
		r.Owner, r.LeaseUntil, r.Awake = "", nil, true
		return tx.UpdateRun(r)
	}))
	claimed, err := p.hub.Work.Claim(p.t.Context(), "me", 1, time.Hour)
	p.must(err)
	if len(claimed) != 1 {
		p.t.Fatalf("claimed %d runs, want 1", len(claimed))
	}
	p.lease.Generation = claimed[0].Generation
}

func (p *streamSim) start() {
	p.hub = hub.New(hub.Options{Store: p.store, Bus: p.bus})
	p.must(p.hub.Start(context.Background()))
	p.partTexts, p.saved, p.rest = map[shoal.PartID]string{}, map[shoal.PartID]bool{}, map[shoal.PartID]string{}
}

func (p *streamSim) stop() {
	for _, r := range p.readers {
		r.cut(0)
	}
	p.hub.Stop()
}

func (p *streamSim) write(fn func(*runs.RunChange) error) {
	p.t.Helper()
	p.must(p.hub.Work.Write(context.Background(), p.lease, fn))
}

// streamingPart returns a random streaming part, or nil if there is none.
func (p *streamSim) streamingPart() *shoal.Part {
	if p.open == nil {
		return nil
	}
	var all []*shoal.Part
	for i := range p.open.Parts {
		if _, ok := p.partTexts[p.open.Parts[i].ID]; ok {
			all = append(all, &p.open.Parts[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[p.rnd.IntN(len(all))]
}

func (p *streamSim) step() {
	part := p.streamingPart()
	switch n := p.rnd.IntN(100); {
	case n < 45 && part != nil:
		p.delta(part)
	case n < 55:
		p.begin()
	case n < 60 && part != nil:
		p.reset(part)
	case n < 63 && part != nil:
		p.remove(part)
	case n < 68 && part != nil:
		p.end(part)
	case n < 74 && p.open != nil:
		p.save()
	case n < 77 && p.open != nil:
		p.close()
	case n < 79:
		p.crash()
	case n < 83:
		p.reason()
	case n < 84:
		synctest.Wait()
	case n < 87:
		p.bus.hold(true)
	case n < 89:
		p.bus.hold(false)
	default:
		p.readers[p.rnd.IntN(len(p.readers))].act()
	}
}

func (p *streamSim) head(part *shoal.Part) shoal.PartHead {
	return shoal.PartHead{MessageID: p.open.ID, PartID: part.ID}
}

func (p *streamSim) begin() {
	p.count++
	part := shoal.Part{ID: shoal.PartID(p.name("prt_", p.count)), Type: shoal.TextPart, Status: shoal.PartStreaming}
	if p.rnd.IntN(3) == 0 {
		part = shoal.Part{
			ID: part.ID, Type: shoal.ToolPart, Status: shoal.PartInputStreaming, ToolName: "card", ToolCallID: fmt.Sprintf("call-%d", p.count), Args: json.RawMessage(`{}`),
		}
	}
	fresh := p.open == nil
	save := p.rnd.IntN(2) == 0 || p.nodes
	p.write(func(c *runs.RunChange) error {
		if fresh {
			m, err := c.OpenMessage(shoal.Message{ID: shoal.MessageID(p.name("msg_", p.count)), SpaceID: "shop"}, nil)
			if err != nil {
				return err
			}
			p.open = &m
		}
		var data runs.PartEvent = &shoal.TextData{PartHead: p.head(&part)}
		what := shoal.EventTextStart
		if part.Type == shoal.ToolPart {
			what, data = shoal.EventToolInputStart, &shoal.ToolInputData{PartHead: p.head(&part), ToolCallID: part.ToolCallID, ToolName: part.ToolName}
		}
		if err := c.EmitPart("shop", "", what, data); err != nil {
			return err
		}
		if !save {
			return nil
		}
		with := *p.open
		with.Parts = append(p.drafts(), part)
		return c.SaveMessage(with, nil)
	})
	p.open.Parts = append(p.open.Parts, part)
	p.partTexts[part.ID] = ""
	if save {
		p.markSaved()
	}
}

func (p *streamSim) markSaved() {
	for _, part := range p.open.Parts {
		p.saved[part.ID] = true
	}
}

// drafts returns the parts with their current text.
func (p *streamSim) drafts() []shoal.Part {
	out := slices.Clone(p.open.Parts)
	for i := range out {
		if text, ok := p.partTexts[out[i].ID]; ok && out[i].Type == shoal.TextPart {
			out[i].Text = text
		}
	}
	return out
}

var pieces = []string{"a", "bc", "<b>&", "größe", "日本", "🙂", " and so on", "\n"}

func (p *streamSim) delta(part *shoal.Part) {
	piece := pieces[p.rnd.IntN(len(pieces))]
	if again := p.rest[part.ID]; again != "" {
		_, size := utf8.DecodeRuneInString(again)
		piece, p.rest[part.ID] = again[:size], again[size:]
	}
	text := p.partTexts[part.ID]
	d := live.Delta{Space: "shop", Message: p.open.ID, Part: part.ID, Offset: len(text), Text: piece}
	if part.Type == shoal.ToolPart {
		d.Call, d.Tool = part.ToolCallID, part.ToolName
		piece = strconv.Itoa(p.rnd.IntN(1000))
		if text == "" {
			piece = `{"n<&":1` + piece
		}
		d.Text = piece
	}
	p.hub.Work.Relay(p.lease, []live.Delta{d})
	p.partTexts[part.ID] = text + piece
	if p.nodes {
		p.recordVersion(part.ID, text+piece)
	}
}

// recordVersion records the text of a part.
func (p *streamSim) recordVersion(id shoal.PartID, text string) {
	all := p.versions[id]
	if n := len(all); n > 0 && strings.HasPrefix(text, all[n-1]) {
		all = all[:n-1]
	}
	p.versions[id] = append(all, text)
}

func (p *streamSim) reset(part *shoal.Part) {
	text := p.partTexts[part.ID]
	at := 0
	if len(text) > 0 && part.Type == shoal.TextPart {
		at = p.rnd.IntN(len(text))
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
	}
	p.partTexts[part.ID] = text[:at]
	delete(p.rest, part.ID)
	save := p.rnd.IntN(2) == 0 || p.nodes
	p.write(func(c *runs.RunChange) error {
		if err := c.EmitPart("shop", "", shoal.EventPartReset, &shoal.PartResetData{PartHead: p.head(part), Offset: at}); err != nil || !save {
			return err
		}
		with := *p.open
		with.Parts = p.drafts()
		return c.SaveMessage(with, nil)
	})
	if save {
		p.markSaved()
	}
}

func (p *streamSim) remove(part *shoal.Part) {
	id := part.ID
	h := p.head(part)
	delete(p.partTexts, id)
	p.open.Parts = slices.DeleteFunc(slices.Clone(p.open.Parts), func(o shoal.Part) bool { return o.ID == id })
	p.write(func(c *runs.RunChange) error {
		if err := c.EmitPart("shop", "", shoal.EventPartRemoved, &shoal.PartResetData{PartHead: h}); err != nil {
			return err
		}
		with := *p.open
		with.Parts = p.drafts()
		return c.SaveMessage(with, nil)
	})
	p.markSaved()
}

// endIn ends a part in a transaction.
func (p *streamSim) endIn(c *runs.RunChange, part *shoal.Part) error {
	if part.Type == shoal.TextPart {
		part.Text, part.Status = p.partTexts[part.ID], shoal.PartDone
		return c.EmitPart("shop", "", shoal.EventTextEnd, &shoal.TextData{PartHead: p.head(part), Text: part.Text, Status: part.Status})
	}
	part.Args, part.Status = json.RawMessage(p.partTexts[part.ID]+"}"), shoal.PartRunning
	if p.partTexts[part.ID] == "" {
		part.Args = json.RawMessage("{}")
	}
	if p.nodes {
		p.recordVersion(part.ID, string(part.Args))
	}
	return c.EmitPart("shop", "", shoal.EventToolInputAvailable, &shoal.ToolInputData{
		PartHead: p.head(part), ToolCallID: part.ToolCallID, ToolName: part.ToolName, Args: part.Args,
	})
}

func (p *streamSim) end(part *shoal.Part) {
	p.write(func(c *runs.RunChange) error {
		if err := p.endIn(c, part); err != nil {
			return err
		}
		with := *p.open
		with.Parts = p.drafts()
		return c.SaveMessage(with, nil)
	})
	late := live.Delta{Space: "shop", Message: p.open.ID, Part: part.ID, Offset: len(p.partTexts[part.ID]), Text: "late"} // and with a wrong offset
	delete(p.partTexts, part.ID)
	p.markSaved()
	if p.rnd.IntN(2) == 0 {
		p.hub.Work.Relay(p.lease, []live.Delta{late})
	}
}

func (p *streamSim) save() {
	p.write(func(c *runs.RunChange) error {
		with := *p.open
		with.Parts = p.drafts()
		return c.SaveMessage(with, nil)
	})
	p.markSaved()
}

func (p *streamSim) close() {
	p.write(func(c *runs.RunChange) error {
		for i := range p.open.Parts {
			if _, ok := p.partTexts[p.open.Parts[i].ID]; ok {
				if err := p.endIn(c, &p.open.Parts[i]); err != nil {
					return err
				}
			}
		}
		m := *p.open
		m.Status = shoal.MessageCompleted
		return c.CloseMessage(m, nil)
	})
	p.open, p.partTexts = nil, map[shoal.PartID]string{}
}

// crash stops the server. What was not saved is lost, and the run continues from there or
// removes its parts.
func (p *streamSim) crash() {
	for _, r := range p.readers {
		r.cut(p.rnd.IntN(3))
	}
	p.hub.Stop()
	p.bus.hold(false)
	before := p.partTexts
	saved := p.saved
	p.reasoningPart = ""
	p.start()
	p.takeLease()
	if p.open == nil {
		return
	}
	p.must(p.hub.Work.Read(context.Background(), func(tx storage.Tx) error {
		m, err := tx.Message(shoal.DefaultSession, "shop", p.open.ID)
		p.open = &m
		return err
	}))
	for _, part := range slices.Clone(p.open.Parts) {
		if _, ok := before[part.ID]; !ok || !saved[part.ID] {
			continue
		}
		p.saved[part.ID] = true
		p.partTexts[part.ID] = part.Text
		i := slices.IndexFunc(p.open.Parts, func(o shoal.Part) bool { return o.ID == part.ID })
		if part.Type == shoal.ToolPart || p.rnd.IntN(2) == 0 {
			p.remove(&p.open.Parts[i])
		} else {
			p.open.Parts[i].Text = ""
			p.rest[part.ID] = strings.TrimPrefix(before[part.ID], part.Text)
		}
	}
}

func (p *streamSim) reason() {
	d := live.Delta{Space: "shop", Reasoning: true, Show: true, Part: shoal.PartID(p.reasoningPart), Offset: len(p.reasoningText), Text: "hm "}
	switch {
	case p.reasoningPart == "":
		p.count++
		p.reasoningPart, p.reasoningText = fmt.Sprintf("prt_r%d", p.count), ""
		d.Part, d.Offset, d.First, d.Text = shoal.PartID(p.reasoningPart), 0, true, ""
	case p.rnd.IntN(4) == 0:
		d.Last, d.Text, p.reasoningPart = true, "", ""
	default:
		p.reasoningText += d.Text
	}
	p.hub.Work.Relay(p.lease, []live.Delta{d})
}

// finish closes the open message and checks that all readers have received everything.
func (p *streamSim) finish() {
	if p.open != nil {
		p.close()
	}
	var stored []shoal.Message
	p.must(p.hub.Work.Read(context.Background(), func(tx storage.Tx) (err error) {
		stored, err = tx.Messages(shoal.DefaultSession, "shop", storage.Page{Limit: 50})
		return err
	}))
	for _, r := range p.readers {
		r.connect()
		r.drain()
		for _, m := range stored {
			have := r.messages[m.ID]
			if have == nil {
				p.t.Errorf("%s has not received message %s", r.kind, m.ID)
				continue
			}
			if got, want := asJSON(have), asJSON(m); got != want {
				p.t.Errorf("%s has message %s\n%s\nwant, as stored,\n%s", r.kind, m.ID, got, want)
			}
		}
	}
}

func asJSON(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func newStreamRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 8)) }
