package remoterun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Options configure a [Server]. Hub is required; the caller closes it.
type Options struct {
	Hub *hub.Hub
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
	// Lease is for how long a program holds a run without a sign of life, 30 s if zero.
	Lease time.Duration
	// CallLease is the same for a program that calls tools, after each call: it says nothing while
	// its model thinks. 15 min if zero.
	CallLease time.Duration
	// FitsSchema returns an error if value, called name, does not match a JSON Schema. If nil, the
	// arguments of cards that are shown with [Server.Append] are not checked.
	FitsSchema func(name string, schema, value json.RawMessage) error
}

// Server accepts the work of programs. It is safe for concurrent use.
type Server struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu   sync.Mutex
	runs map[key]*running
}

type key struct {
	session shoal.SessionID
	run     shoal.RunID
}

// New returns a server; Start starts it.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.CallLease == 0 {
		o.CallLease = 15 * time.Minute
	}
	s := &Server{o: o, runs: map[key]*running{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Start starts ending canceled runs.
func (s *Server) Start() {
	sub := s.o.Hub.Work.SubscribeRemote("", "") // before the first read, so that no notification is missed
	s.loops.Go(func() { defer sub.Close(); s.cancelLoop(sub.Ready(), func() { sub.Take() }) })
	s.loops.Go(s.forgetLoop)
}

// Stop ends the background work and waits for it. Programs go on with another server, or with
// the next one.
func (s *Server) Stop() {
	s.cancel()
	s.mu.Lock()
	all := s.runs
	s.runs = map[key]*running{}
	s.mu.Unlock()
	for _, x := range all {
		x.forget()
	}
	s.loops.Wait()
}

// forget makes a run be read again.
func (x *running) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone = true
	if x.late != nil {
		x.late.Stop()
		x.late = nil
	}
}

// after calls do after a time, unless the server is stopped before.
func (s *Server) after(d time.Duration, do func()) *time.Timer {
	return time.AfterFunc(d, func() {
		s.mu.Lock()
		stopped := s.ctx.Err() != nil
		if !stopped {
			s.loops.Add(1)
		}
		s.mu.Unlock()
		if !stopped {
			defer s.loops.Done()
			do()
		}
	})
}

// write is one transaction of a run.
func (s *Server) write(ctx context.Context, lease runs.Lease, fn func(*runs.RunChange) error) error {
	return s.o.Hub.Work.Write(context.WithoutCancel(ctx), lease, fn)
}

// forgetAfter is for how long a run without reports stays in memory.
const forgetAfter = 2 * time.Minute

// forgetLoop drops runs whose programs have been silent for long.
func (s *Server) forgetLoop() {
	tick := time.NewTicker(forgetAfter / 4)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		s.markSilent()
		s.mu.Lock()
		for k, x := range s.runs {
			if x.mu.TryLock() {
				if x.gone || time.Since(x.used) > forgetAfter {
					x.gone = true
					delete(s.runs, k)
				}
				x.mu.Unlock()
			}
		}
		s.mu.Unlock()
	}
}

// staleError is the error of a program whose claim is not the current one.
func staleError(claim int64) error {
	if claim == 0 {
		return shoal.E("", shoal.Conflict, "The run was not claimed, or its lease has ended. Claim it first.")
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf("Another program has claimed the run, with the generation %d. Stop working on it.", claim))
}

// endedError is the error of a program that reports about a run that has ended, or is about to.
func endedError(r storage.Run) error {
	if !r.Status.Ended() && r.Cancel {
		r.Status = shoal.RunCanceled
	}
	return shoal.E("", shoal.Expired, fmt.Sprintf("The run has ended: it is %s. Stop working on it.", r.Status))
}

// hold calls do with the run of a claim, which no other call uses meanwhile. If another server
// wrote the run last, it is read first.
func (s *Server) hold(ctx context.Context, r storage.Run, claim int64, do func(*running) error) error {
	for again := false; ; again = true {
		x, err := s.find(ctx, r, claim)
		if err != nil {
			return err
		}
		err = func() error {
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.gone {
				return runs.ErrLeaseLost
			}
			x.used = time.Now()
			err := do(x)
			x.gone = x.gone || err != nil || x.machine.end != nil || x.released
			return err
		}()
		if err == nil || again || !errors.Is(err, runs.ErrLeaseLost) {
			return err
		}
		if r, err = s.reread(ctx, r); err != nil { // another server has written it since
			return err
		}
	}
}

func (s *Server) reread(ctx context.Context, r storage.Run) (out storage.Run, err error) {
	err = s.o.Hub.Work.Read(ctx, func(tx storage.Tx) (err error) {
		out, err = tx.Run(r.SessionID, r.ID)
		return err
	})
	if err == nil && out.Status.Ended() {
		err = endedError(out)
	}
	return out, err
}

// find returns the run of a claim, and reads it if this server does not write it.
func (s *Server) find(ctx context.Context, r storage.Run, claim int64) (*running, error) {
	k := key{r.SessionID, r.ID}
	s.mu.Lock()
	x := s.runs[k]
	s.mu.Unlock()
	if x != nil && x.claim == claim && x.lease.Generation == r.Generation && !x.isGone() {
		return x, nil
	}
	err := s.o.Hub.Work.TakeOver(context.WithoutCancel(ctx), r.SessionID, r.ID, func(c *runs.RunChange) (err error) {
		st, err := stateOf(*c.Run)
		if err != nil {
			return err
		}
		if st.Remote.Claim != claim || c.Run.Owner == "" {
			if c.Run.Owner == "" {
				st.Remote.Claim = 0
			}
			return staleError(st.Remote.Claim)
		}
		x, err = s.restore(c)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.remember(x)
	return x, nil
}

func (x *running) isGone() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.gone
}

// remember makes x the run of this server, in place of what it knew of it.
func (s *Server) remember(x *running) {
	k := key{x.run.SessionID, x.run.ID}
	s.mu.Lock()
	before := s.runs[k]
	s.runs[k] = x
	s.mu.Unlock()
	if before != nil {
		before.forget()
	}
}
