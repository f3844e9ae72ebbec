package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/modelrequest"
)

// lock is a mutex that is held while a write waits for a busy database. Unlike a sync.Mutex, it
// lets virtual time pass for the goroutines that wait for it.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// store is the agent's store for one execution. The run is a conversation of its
// own, named by the run's id: the blocks that it sees, its input and its steps.
// Sub-agents have conversations of their own, which are stored whole.
//
// The agent's store in memory executes each change; this store then writes the result. After
// one failed write every later one fails.
type store struct {
	x *execution

	mu            lock // orders the writes of the run and of its sub-agents
	memory        agent.Store
	known         map[string]bool  // the conversations that are in memory
	revisionLag   map[string]int64 // by how many revisions the stored record is ahead of memory
	broken        error
	starts        map[int]shoal.Time // of steps, by index
	doneSteps     int                // complete steps
	used          shoal.Usage        // by them
	failed        bool               // a step could not be stored
	lastPlainText string             // of the stored steps
	// committed is signaled after every commit of a step.
	committed *sync.Cond

	// The fields below are what was stored when the execution began.
	turn    *history.Turn
	ended   *agent.TurnEnd
	steps   []agent.Step
	history history.History
}

// open reports whether the turn has begun and not ended.
func (s *store) hasOpenTurn() bool { return s.turn != nil && s.ended == nil }

// openConversation loads the run's conversation into memory. It is called before the
// agent's turn, after the run got its position among the other runs.
func (s *store) openConversation(tx storage.Tx) error {
	h, err := s.readHistory(tx)
	if err != nil {
		return err
	}
	s.history = h
	r := agent.Record{ID: string(s.x.run.ID), Messages: h.Messages, Summary: h.Summary, ContextState: h.States}
	if s.hasOpenTurn() {
		r.Open = &agent.OpenTurn{Turn: s.turn.Turn, Base: len(r.Messages), Steps: s.steps, Waiting: s.turn.Waiting}
		r.Messages = append(r.Messages, s.turn.Turn.Input...)
		for _, step := range s.steps {
			if step.Done {
				r.Messages = append(r.Messages, step.Messages()...)
			}
		}
	}
	s.memory = agent.NewMemory()
	s.known = map[string]bool{r.ID: true}
	return s.memory.Replace(context.Background(), r)
}

// readHistory returns what the run sees of the runs that had ended when it began.
func (s *store) readHistory(tx storage.Tx) (history.History, error) {
	conv, err := runs.ReadConversation(tx, s.x.run)
	if err != nil {
		return history.History{}, err
	}
	if !s.x.config.Context.Conversation {
		return history.ReadStates(conv)
	}
	return s.x.e.blocks.Read(tx, conv, s.x.run.Began)
}

// updateHistory stores what the end of the turn leaves to later runs.
func (s *store) updateHistory(c *runs.RunChange, end agent.TurnEnd, messages int) error {
	conv, err := runs.ReadConversation(c.Tx, s.x.run)
	if err != nil {
		return err
	}
	changed, err := s.history.Update(&conv, s.x.run.ID, end, messages)
	if err != nil || !changed {
		return err
	}
	return c.PutConversation(conv)
}

// Load implements [agent.Store]. Requests have the answers that the hub has.
func (s *store) Load(ctx context.Context, id string) (agent.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadConversation(ctx, id); err != nil {
		return agent.Record{}, err
	}
	r, err := s.memory.Load(ctx, id)
	if err == nil {
		r.Revision += s.revisionLag[id]
		r.Open = s.x.withAnswers(r.Open)
	}
	return r, err
}

// loadConversation loads a conversation into memory unless it is there.
func (s *store) loadConversation(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil || s.known[id] {
		return err
	}
	var conv storage.Conversation
	err := s.x.read(ctx, func(tx storage.Tx) (err error) {
		conv, err = tx.Conversation(s.x.run.SessionID, id)
		return err
	})
	switch {
	case errors.Is(err, shoal.NotFound):
	case err != nil:
		return err
	default:
		var r agent.Record
		if err := json.Unmarshal(conv.Data, &r); err != nil {
			return fmt.Errorf("run: the conversation %s: %w", id, err)
		}
		s.revisionLag[id], r.Revision = r.Revision-1, 0
		if err := s.memory.Replace(ctx, r); err != nil {
			return err
		}
	}
	s.known[id] = true
	return nil
}

// write makes a change in memory and stores the result with keep.
func (s *store) write(ctx context.Context, id string, change func() error, keep func(c *runs.RunChange, r agent.Record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	ctx = context.WithoutCancel(ctx) // a write is completed, also after the time that the agent gives it
	if err := s.loadConversation(ctx, id); err != nil {
		return err
	}
	if err := s.x.stopCause(); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	r, err := s.memory.Load(ctx, id)
	if err != nil {
		return err
	}
	if id != string(s.x.run.ID) {
		keep = s.putConversation
	}
	if err := s.x.write(ctx, func(c *runs.RunChange) error { return keep(c, r) }); err != nil {
		s.broken = err
	}
	return s.broken
}

// putConversation stores the conversation of a sub-agent.
func (s *store) putConversation(c *runs.RunChange, r agent.Record) error {
	r.Revision += s.revisionLag[r.ID]
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("run: a conversation: %w", err)
	}
	return c.PutConversation(storage.Conversation{Session: s.x.run.SessionID, ID: r.ID, Agent: s.x.run.AgentID, Data: data})
}

// putTurn stores the run's turn without its steps.
func (s *store) putTurn(c *runs.RunChange, t history.Turn) error {
	turn, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("run: a turn: %w", err)
	}
	c.Run.Turn = turn
	c.Run.Revision++
	return nil
}

// Begin implements [agent.Store].
func (s *store) Begin(ctx context.Context, id string, turn agent.Turn) error {
	return s.write(ctx, id, func() error { return s.memory.Begin(ctx, id, turn) }, func(c *runs.RunChange, r agent.Record) error {
		k := history.Turn{Turn: r.Open.Turn}
		if s.turn != nil {
			k.RanMs = s.turn.RanMs
		}
		s.turn = &k
		return s.putTurn(c, k)
	})
}

// Commit implements [agent.Store]. Usage is counted as soon as the model has
// answered; the event step.completed follows when the tools are done.
func (s *store) Commit(ctx context.Context, id string, ref agent.TurnRef, step agent.Step) error {
	if id != string(s.x.run.ID) {
		return s.write(ctx, id, func() error { return s.memory.Commit(ctx, id, ref, step) }, nil)
	}
	var used shoal.Usage
	stored := false
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if stored && step.Done {
			s.doneSteps, s.used = step.Index+1, used
		}
		if stored {
			s.recordText(step)
		}
		s.failed = s.failed || !stored
		s.committed.Broadcast()
	}()
	sent := s.x.requests.Unstored(ctx, step.Index)
	err := s.write(ctx, id, func() error { return s.memory.Commit(ctx, id, ref, step) }, func(c *runs.RunChange, _ agent.Record) error {
		if err := modelrequest.Save(c, sent); err != nil {
			return err
		}
		public := s.x.publicStep(step, s.stepStart(step))
		used = s.used.Add(public.Usage)
		return s.putStep(c, step, public, used)
	})
	if stored = err == nil; stored {
		s.x.requests.MarkStored(sent)
		if step.Done {
			s.x.e.metrics.step(s.x.model.Provider, usage(step.Usage, step.Cost))
		}
	}
	return err
}

// awaitSteps waits until the first n steps are stored completely or storing failed, so that
// later events follow theirs.
func (s *store) awaitSteps(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.doneSteps < n && !s.failed {
		s.committed.Wait()
	}
}

// putStep stores a step of the run.
func (s *store) putStep(c *runs.RunChange, step agent.Step, public shoal.Step, used shoal.Usage) error {
	data, err := json.Marshal(step)
	if err != nil {
		return fmt.Errorf("run: a step: %w", err)
	}
	now := shoal.Now()
	if step.Done {
		public.EndedAt = &now
	}
	r := s.x.run
	if err := c.PutStep(r.SessionID, r.ID, storage.Step{Step: public, Data: data, Done: step.Done}); err != nil {
		return err
	}
	c.Run.Steps, c.Run.Usage = max(c.Run.Steps, step.Index+1), used
	charged := storage.StepUsage{Run: r.ID, Step: step.Index, Agent: r.AgentID, Model: public.Model, At: now, Usage: public.Usage}
	if err := c.AddUsage(r.SessionID, charged); err != nil || !step.Done {
		return err
	}
	return c.StepCompleted(public)
}

// End implements [agent.Store]. It stores what an ended turn leaves to later runs in
// the agent's conversation.
func (s *store) End(ctx context.Context, id string, ref agent.TurnRef, end agent.TurnEnd) error {
	var sent []runs.SentRequest
	if id == string(s.x.run.ID) {
		end = s.x.endOfRun(end)
		sent = s.x.requests.Unstored(ctx, math.MaxInt) // also of a failed call
	}
	return s.write(ctx, id, func() error { return s.memory.End(ctx, id, ref, end) }, func(c *runs.RunChange, r agent.Record) error {
		if err := modelrequest.Save(c, sent); err != nil {
			return err
		}
		k := *s.turn
		if end.Outcome == agent.Waiting {
			k.Waiting = true
			return s.putTurn(c, k)
		}
		k.Waiting, k.End = false, &agent.TurnEnd{Outcome: end.Outcome, Reason: end.Reason, Message: end.Message, At: end.At}
		if err := c.DropSteps(s.x.run.SessionID, s.x.run.ID, s.doneSteps); err != nil {
			return err
		}
		if err := s.updateHistory(c, end, len(r.Messages)); err != nil {
			return err
		}
		return s.putTurn(c, k)
	})
}

// Replace implements [agent.Store]. The conversation of the run itself cannot be
// replaced.
func (s *store) Replace(ctx context.Context, record agent.Record) error {
	if record.ID == string(s.x.run.ID) {
		return agent.NewError("run.Replace", agent.ErrConflict, "The conversation of a run changes only through its turn.")
	}
	return s.write(ctx, record.ID, func() error {
		record.Revision -= s.revisionLag[record.ID]
		return s.memory.Replace(ctx, record)
	}, nil)
}

// setStepStart records when a step began.
func (s *store) setStepStart(index int, at shoal.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts[index] = at
}

// stepStart returns when a step began. The caller holds mu.
func (s *store) stepStart(step agent.Step) shoal.Time {
	if at, ok := s.starts[step.Index]; ok {
		return at
	}
	return shoal.At(step.Assistant.CreatedAt)
}

// suspendedTurn adds to the run's execution time and returns the turn to store.
func (s *store) suspendedTurn(more time.Duration) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := *s.turn
	k.Waiting = true
	k.RanMs += more.Milliseconds()
	return json.Marshal(k)
}

// remainingTime returns the rest of a limit of the execution time.
func (s *store) remainingTime(limit time.Duration) time.Duration {
	if s.turn != nil {
		limit -= time.Duration(s.turn.RanMs) * time.Millisecond
	}
	return max(limit, time.Millisecond)
}
