package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// ServeOptions configure [Session.Serve].
type ServeOptions struct {
	// Concurrency is how many runs are executed at the same time, 4 if zero. A key has at most
	// 20 open streams, and each run needs one.
	Concurrency int
	// HandlerStarts means that the handler says with [Work.Started] when its model has the prompt,
	// which is when senders read that the agent works on their message; any other line says it at
	// the latest. Without it a turn starts with the claim.
	HandlerStarts bool
	// Log receives what went wrong and is retried, and how handlers failed; nil discards it.
	Log func(error)
}

// ErrLeaseLost is the cause with which the context of a handler ends if another program has
// claimed the run, or the server has not heard of this one for too long. What the handler did
// since the last receipt is not stored.
var ErrLeaseLost = errors.New("client: the run is executed by another program now")

// ErrRunEnded is the cause with which the context of a handler ends if the run was canceled,
// or has ended in another way.
var ErrRunEnded = errors.New("client: the run has ended")

// Handler executes one run. When it returns nil, the run is completed; an error fails the run
// with its text, which members of the space read. ctx ends when the run is canceled, when the
// lease is lost, and with the context of Serve; then nothing more can be reported.
type Handler func(ctx context.Context, w *Work) error

// Serve executes the runs of a remote agent: it claims them and calls handle for each, on a
// goroutine of its own, until ctx ends. It survives restarts of the server and broken
// connections. Serve returns when all handlers have returned: nil after the end of ctx, else
// an error with which the server refused to give it runs. A run that a handler has not
// finished then is given back, with what was reported, and another program can claim it at once; one
// of a program that dies is claimed again once its lease has ended. See [Work.Claimed]. The key must be that of the agent, or an admin's.
func (s *Session) Serve(ctx context.Context, agent shoal.EntityID, o ServeOptions, handle Handler) error {
	if o.Concurrency == 0 {
		o.Concurrency = 4
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	p := &program{session: s, agent: agent, o: o, handle: handle, slots: make(chan struct{}, o.Concurrency), holding: map[shoal.RunID]bool{}}
	err := p.run(ctx)
	p.runs.Wait()
	return named("client.Serve", err)
}

// program is an active Serve.
type program struct {
	session *Session
	agent   shoal.EntityID
	o       ServeOptions
	handle  Handler
	slots   chan struct{} // holds a value for each run
	runs    sync.WaitGroup

	mu      sync.Mutex
	holding map[shoal.RunID]bool // the runs that are being executed
}

func (p *program) run(ctx context.Context) error {
	delays := backoff{first: callFirst, most: watchMost}
	reached, began := false, time.Now()
	for tries := 1; ; {
		select { // for a free slot
		case p.slots <- struct{}{}:
			<-p.slots
		case <-ctx.Done():
			return nil
		}
		var found struct {
			Items []shoal.RemoteRun `json:"items"`
		}
		free := cap(p.slots) - len(p.slots)
		end := p.claim(ctx, free, &found)
		if ctx.Err() != nil && len(found.Items) == 0 {
			return nil
		}
		reached = reached || end.sent && end.err == nil
		if end.err == nil {
			delays.reset()
			tries = 1
			for _, r := range found.Items {
				p.launch(ctx, r)
			}
			continue
		}
		away := max(delays.next(), end.after)
		if !end.mayRepeat(false) || !reached && p.session.client.gaveUp(tries, time.Since(began)+away) {
			return end.err
		}
		tries++
		p.o.Log(end.err)
		if !pause(ctx, away) {
			return nil
		}
	}
}

// claim makes one claim. An answer that is lost costs nothing: the runs are claimed again once
// their leases have ended. It names the runs that this program executes, because their leases may
// have ended, too, while the server was not reached: they go on, and are not claimed again.
func (p *program) claim(ctx context.Context, limit int, out any) outcome {
	p.mu.Lock()
	holds := slices.Sorted(maps.Keys(p.holding))
	p.mu.Unlock()
	body := struct {
		Limit  int           `json:"limit"`
		WaitMs int64         `json:"waitMs"`
		Holds  []shoal.RunID `json:"holds,omitempty"`
	}{min(limit, shoal.MaxClaim), waitRound.Milliseconds(), holds[:min(len(holds), shoal.MaxClaim)]}
	return p.session.client.try(ctx, call{
		method: http.MethodPost, path: p.session.path("agents", string(p.agent), "claim"), body: body, within: waitRound + waitGrace,
	}, out)
}

// launch executes one run.
func (p *program) launch(ctx context.Context, r shoal.RemoteRun) {
	p.slots <- struct{}{} // no more runs are claimed than slots are free
	p.hold(r.Run.ID, true)
	p.runs.Go(func() {
		defer func() { <-p.slots }()
		defer p.hold(r.Run.ID, false)
		w := newWork(ctx, p, r)
		err := p.execute(w)
		w.finish(err)
	})
}

// hold notes whether a run is being executed.
func (p *program) hold(run shoal.RunID, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held {
		p.holding[run] = true
	} else {
		delete(p.holding, run)
	}
}

// execute calls the handler. A panic fails the run and not the program.
func (p *program) execute(w *Work) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("client: the handler of run %s panicked: %v", w.Claimed.Run.ID, v)
			p.o.Log(err)
			err = errors.New("the program has a fault")
		}
	}()
	return p.handle(w.ctx, w)
}
