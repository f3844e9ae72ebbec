package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/promptcache"
)

// countingStore counts transactions, and the rows that they read of what grows with each turn:
// messages, runs, blocks of a conversation, and steps.
type countingStore struct {
	storage.Store
	transactions, rows atomic.Int64
}

type countingTx struct {
	storage.Tx
	s *countingStore
}

func (s *countingStore) counted(fn func(storage.Tx) error) func(storage.Tx) error {
	s.transactions.Add(1)
	return func(tx storage.Tx) error { return fn(countingTx{tx, s}) }
}

func (s *countingStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.View(ctx, s.counted(fn))
}

func (s *countingStore) ViewFirst(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.ViewFirst(ctx, s.counted(fn))
}

func (s *countingStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, at, s.counted(fn))
}

// rowsOf counts what a method has returned.
func rowsOf[T any](t countingTx, all []T, err error) ([]T, error) {
	t.s.rows.Add(int64(len(all)))
	return all, err
}

func (t countingTx) Messages(session shoal.SessionID, space shoal.SpaceID, page storage.Page) ([]shoal.Message, error) {
	all, err := t.Tx.Messages(session, space, page)
	return rowsOf(t, all, err)
}

func (t countingTx) Runs(session shoal.SessionID, filter storage.RunFilter) ([]storage.Run, error) {
	all, err := t.Tx.Runs(session, filter)
	return rowsOf(t, all, err)
}

func (t countingTx) Blocks(session shoal.SessionID, conversation string, filter storage.BlockFilter) ([]storage.Block, error) {
	all, err := t.Tx.Blocks(session, conversation, filter)
	for _, b := range all {
		t.s.rows.Add(int64(len(b.Steps)))
	}
	return rowsOf(t, all, err)
}

func (t countingTx) RunSteps(session shoal.SessionID, run shoal.RunID) ([]storage.Step, error) {
	all, err := t.Tx.RunSteps(session, run)
	return rowsOf(t, all, err)
}

func (t countingTx) Usage(session shoal.SessionID, q storage.UsageQuery) ([]shoal.UsageRow, error) {
	all, err := t.Tx.Usage(session, q)
	return rowsOf(t, all, err)
}

// longSpace is a space whose turns are played, or copied from one that was: a copy has the same
// rows as a turn that was played (two messages, a run, its step, its usage) with ids and a number
// of its own. Of the rest of a turn, the recorded requests and events, later turns read nothing.
type longSpace struct {
	*world
	counted *countingStore
	model   *promptcache.Server
	agents  int
	turns   int // played and copied
	sample  map[shoal.EntityID]turnRows
}

// turnRows are what a turn has stored.
type turnRows struct {
	run             storage.Run
	question, reply shoal.Message
	steps           []storage.Step
	number          string
}

func newLongSpace(t *testing.T, agents int) *longSpace {
	s := &countingStore{Store: shoaltest.OpenSQLite(t)}
	l := &longSpace{world: newWorldOn(t, s), counted: s, agents: agents, sample: map[shoal.EntityID]turnRows{}}
	l.model = promptcache.Start(t, func(r promptcache.Request) promptcache.Answer {
		question := r.Texts[len(r.Texts)-1]
		return promptcache.Answer{Text: "About " + question[strings.LastIndex(question, "Question "):][:14] + ": the lamp is in the second room."}
	})
	l.lampkeepers(agents, vendors["openai"](l.model))
	return l
}

// play plays the next turn.
func (l *longSpace) play() {
	l.t.Helper()
	l.turns++
	number := fmt.Sprintf("Question %05d", l.turns)
	id := shoal.EntityID(fmt.Sprintf("agent-%d", l.turns%l.agents))
	posted, err := l.hub.Messages.Post(l.t.Context(), ann, session, "shop",
		shoal.Draft{Parts: []shoal.Part{shoal.Text(number + ": where is the lamp that I saw?")}, Mentions: []shoal.EntityID{id}}, "")
	l.must(err)
	r := l.reaches(posted.Runs[0].RunID, shoal.RunCompleted)
	if _, known := l.sample[id]; known {
		return
	}
	l.read(func(tx storage.Tx) error {
		steps, err := tx.RunSteps(session, r.ID)
		if err != nil {
			return err
		}
		all, err := tx.Messages(session, "shop", storage.Page{Limit: 2})
		l.sample[id] = turnRows{run: r, question: all[0], reply: all[1], steps: steps, number: number}
		return err
	})
}

// copyUntil copies turns until there are so many.
func (l *longSpace) copyUntil(turns int) {
	l.t.Helper()
	const atOnce = 500
	for l.turns < turns {
		most := min(turns, l.turns+atOnce)
		l.must(l.counted.Store.Update(l.t.Context(), storage.Global, func(tx storage.Tx) error {
			for n := l.turns + 1; n <= most; n++ {
				if err := l.copyTurn(tx, n); err != nil {
					return err
				}
			}
			return nil
		}))
		l.turns = most
	}
}

func (l *longSpace) copyTurn(tx storage.Tx, n int) error {
	of := l.sample[shoal.EntityID(fmt.Sprintf("agent-%d", n%l.agents))]
	r := of.run
	r.ID = shoal.NewID[shoal.RunID](shoal.PrefixRun)
	question, reply := shoal.NewID[shoal.MessageID](shoal.PrefixMessage), shoal.NewID[shoal.MessageID](shoal.PrefixMessage)
	again := func(text []byte) []byte {
		for _, pair := range [][2]string{
			{string(of.run.ID), string(r.ID)},
			{string(of.question.ID), string(question)},
			{string(of.reply.ID), string(reply)},
			{of.number, fmt.Sprintf("Question %05d", n)},
		} {
			text = bytes.ReplaceAll(text, []byte(pair[0]), []byte(pair[1]))
		}
		return text
	}
	for _, m := range []shoal.Message{of.question, of.reply} {
		if err := l.copyMessage(tx, m, again); err != nil {
			return err
		}
	}
	conv, err := tx.Conversation(session, r.Conversation)
	if err != nil {
		return err
	}
	r.Began, r.Ended = conv.Clock+1, conv.Clock+2
	conv.Clock += 2
	r.Turn = again(r.Turn)
	r.Trigger.MessageID = question
	if err := tx.InsertRun(r); err != nil {
		return err
	}
	if err := tx.UpdateRun(r); err != nil {
		return err
	}
	for _, s := range of.steps {
		s.Data = again(s.Data)
		if err := tx.PutStep(session, r.ID, s); err != nil {
			return err
		}
		if err := tx.AddUsage(session, storage.StepUsage{Run: r.ID, Step: s.Index, Agent: r.AgentID, Model: "gpt", At: r.CreatedAt, Usage: s.Usage}); err != nil {
			return err
		}
	}
	return tx.PutConversation(conv)
}

func (l *longSpace) copyMessage(tx storage.Tx, m shoal.Message, again func([]byte) []byte) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var out shoal.Message
	if err := json.Unmarshal(again(text), &out); err != nil {
		return err
	}
	space, err := tx.LockSpace(session, m.SpaceID)
	if err != nil {
		return err
	}
	out.SessionID, out.Seq = session, space.LastSeq+1
	if err := tx.PostMessage(out, storage.PostKey{}); err != nil {
		return err
	}
	_, err = tx.Deliver(out, nil)
	return err
}

// turnCost is what one turn used.
type turnCost struct {
	tokens, uncached, rows, transactions int64
	cpu                                  time.Duration
}

func (c turnCost) String() string {
	return fmt.Sprintf("%d tokens, %d of them not from the cache, %d rows in %d transactions, %s of CPU", c.tokens, c.uncached, c.rows, c.transactions, c.cpu)
}

// costOf returns what turn number n costs: the turns before it are copied, but for two of each
// agent, which are played so that the cache knows what it was sent. CPU is the least of these
// turns, because others use the processor, too.
func (l *longSpace) costOf(n int) (c turnCost) {
	l.t.Helper()
	l.copyUntil(n - 1 - 2*l.agents)
	cpu := time.Hour
	for l.turns < n {
		before, at := len(l.model.Requests()), usedCPU(l.t)
		rows, transactions := l.counted.rows.Load(), l.counted.transactions.Load()
		l.play()
		cpu = min(cpu, usedCPU(l.t)-at)
		c = turnCost{rows: l.counted.rows.Load() - rows, transactions: l.counted.transactions.Load() - transactions}
		for _, r := range l.model.Requests()[before:] {
			c.tokens += r.Tokens
			c.uncached += r.Tokens - r.Cached
		}
	}
	c.cpu = cpu
	return c
}

func usedCPU(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A turn costs the same however many were before it, for an agent that is alone and for one of
// several: turn 10,000 of a space sends at most 1.1 times as many tokens as turn 100, and reads
// at most 1.1 times as many rows as the turn that is the 100th of its agent.
func TestLateTurnsCostWhatEarlyOnesDo(t *testing.T) {
	last := 10_000
	if testing.Short() {
		last = 1000
	}
	for _, agents := range []int{1, 2} {
		t.Run(fmt.Sprint("agents ", agents), func(t *testing.T) {
			// What is copied reads like what was played.
			const few = 16
			played, l := newLongSpace(t, agents), newLongSpace(t, agents)
			for played.turns < few-1 {
				played.play()
			}
			for l.turns < agents {
				l.play()
			}
			if p, c := played.costOf(few), l.costOf(few); p.tokens != c.tokens || p.rows != c.rows {
				t.Fatalf("turn %d costs %v if the earlier ones were played, %v if they were copied", few, p, c)
			}
			early := l.costOf(100)
			t.Logf("turn 100: %v", early)
			rows := early.rows
			if agents > 1 {
				rows = l.costOf(100 * agents).rows
			}
			for n := 1000; n <= last; n *= 10 {
				late := l.costOf(n)
				t.Logf("turn %d: %v", n, late)
				for what, pair := range map[string][2]int64{
					"tokens": {early.tokens, late.tokens}, "tokens not from the cache": {early.uncached, late.uncached}, "rows": {rows, late.rows},
				} {
					if pair[1]*10 > pair[0]*11 {
						t.Errorf("turn %d costs %d %s, an early one %d: want at most 1.1 times as many", n, pair[1], what, pair[0])
					}
				}
			}
		})
	}
}
