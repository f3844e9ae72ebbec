package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
)

// renewals is how often the server hears of a run without lines during a lease.
const renewals = 4

// giveBackWithin is how long a program that stops may take to give a run back.
const giveBackWithin = 5 * time.Second

// newWork starts reporting about a claimed run. Its goroutines end with finish.
func newWork(ctx context.Context, p *program, r shoal.RemoteRun) *Work {
	w := &Work{
		Claimed: r, program: p, room: make(chan struct{}), ready: make(chan struct{}, 1),
		steers: make(chan Steer, maxSteers), offered: map[shoal.RunID]bool{}, answers: map[string]chan shoal.Order{}, known: map[string]shoal.Order{},
	}
	for _, c := range r.Calls {
		if c.Answer != nil {
			w.known[c.CallID] = *c.Answer
		}
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.stopped = func() bool { return ctx.Err() != nil && errors.Is(context.Cause(w.ctx), context.Cause(ctx)) }
	if !p.o.HandlerStarts {
		w.mu.Lock()
		w.start("")
		w.mu.Unlock()
	}
	following, stop := context.WithCancel(w.ctx)
	w.owned.Go(func() {
		defer stop() // the orders end with the lines
		w.send()
	})
	w.owned.Go(func() { w.follow(following) })
	return w
}

func (w *Work) query() url.Values {
	return url.Values{"generation": {strconv.FormatInt(w.Claimed.Generation, 10)}}
}

// send sends the lines until the last one is stored or the context has ended.
func (w *Work) send() {
	renew := time.NewTicker(max(time.Duration(w.Claimed.LeaseMs)*time.Millisecond/renewals, time.Millisecond))
	defer renew.Stop()
	delays := backoff{first: callFirst, most: callMost}
	for {
		lines, done := w.next()
		if done {
			return
		}
		if len(lines) == 0 {
			select {
			case <-w.ctx.Done():
				return
			case <-w.ready:
				continue
			case <-renew.C:
			}
		}
		end := w.post(w.ctx, lines)
		if w.ctx.Err() != nil {
			return
		}
		if end.err == nil {
			delays.reset()
			continue
		}
		if !w.recover(end) {
			return
		}
		if !pause(w.ctx, max(delays.next(), end.after)) {
			return
		}
	}
}

// next returns the lines to send now: as many as a report may have.
func (w *Work) next() (lines []shoal.WorkLine, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := 0
	for _, l := range w.queue {
		if size += 2 * lineSize(l); len(lines) > 0 && size > shoal.MaxWorkBody/2 || len(lines) == shoal.MaxWorkLines {
			break
		}
		lines = append(lines, l)
	}
	return lines, w.closed && len(w.queue) == 0
}

// post sends lines, and drops those that are stored.
func (w *Work) post(ctx context.Context, lines []shoal.WorkLine) outcome {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body) // ends each line with a line feed
	encoder.SetEscapeHTML(false)
	for _, l := range lines {
		if err := encoder.Encode(l); err != nil {
			return outcome{err: shoal.Invalid("line "+strconv.FormatInt(l.N, 10), err.Error())}
		}
	}
	var receipt shoal.WorkReceipt
	s := w.program.session
	end := s.client.try(ctx, call{
		op: "client.Serve", method: http.MethodPost, path: s.path("runs", string(w.Claimed.Run.ID), "work"), query: w.query(),
		body: content{"application/x-ndjson", body.Bytes()},
	}, &receipt)
	if end.err == nil {
		w.stored(receipt.N)
	}
	return end
}

// stored drops the lines up to n.
func (w *Work) stored(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 && w.queue[0].N <= n {
		w.size -= lineSize(w.queue[0])
		w.queue = w.queue[1:]
	}
	close(w.room)
	w.room = make(chan struct{})
}

// recover reports whether sending may go on after an error.
func (w *Work) recover(end outcome) bool {
	var e *shoal.Error
	errors.As(end.err, &e)
	switch {
	case end.refused || end.unknown:
		w.program.o.Log(end.err)
		return true
	case e != nil && e.Kind == shoal.Expired:
		w.cancel(ErrRunEnded)
		return false
	case e != nil && e.Kind == shoal.Conflict:
		return w.holds(w.ctx) // then some lines were not received
	}
	// A line is wrong: it cannot be stored, and none after it.
	w.program.o.Log(end.err)
	w.cancel(end.err)
	return w.fail(end.err)
}

// holds reports whether the claim is still the current one, after an answer that may say that it is
// not. It asks until the server decides: only that ends what the handler does.
func (w *Work) holds(ctx context.Context) bool {
	for delays := (backoff{first: callFirst, most: callMost}); ; {
		end := w.post(ctx, nil)
		var e *shoal.Error
		errors.As(end.err, &e)
		switch {
		case end.err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case end.refused || end.unknown:
			w.program.o.Log(end.err)
		case e != nil && e.Kind == shoal.Conflict:
			w.cancel(ErrLeaseLost)
			return false
		case e != nil && e.Kind == shoal.Expired:
			w.cancel(ErrRunEnded)
			return false
		default:
			w.cancel(end.err)
			return false
		}
		if !pause(ctx, max(delays.next(), end.after)) {
			return false
		}
	}
}

// fail ends the run in place of the lines that were refused. It reports false.
func (w *Work) fail(err error) bool {
	w.mu.Lock()
	l := failedLine(err)
	l.Code = "program_invalid"
	if len(w.queue) > 0 {
		l.N = w.queue[0].N
	} else {
		l.N = w.n + 1
	}
	w.queue, w.size, w.closed = nil, 0, true
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), answerWithin)
	defer cancel()
	raw, encodeErr := json.Marshal(l)
	if encodeErr != nil {
		return false
	}
	s := w.program.session
	if end := s.client.try(ctx, call{
		method: http.MethodPost, path: s.path("runs", string(w.Claimed.Run.ID), "work"), query: w.query(), body: content{"application/x-ndjson", raw},
	}, nil); end.err != nil {
		w.program.o.Log(end.err)
	}
	return false
}

// giveBack sends what the handler has reported, and gives a run back that has not ended, so that
// another program goes on at once. If that fails, the lease ends by itself.
func (w *Work) giveBack(goesOn bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), giveBackWithin)
	defer cancel()
	if goesOn {
		w.mu.Lock()
		w.push(shoal.WorkLine{Type: shoal.WorkReleased})
		w.mu.Unlock()
	}
	for delays := (backoff{first: callFirst, most: callMost}); ; {
		lines, done := w.next()
		if done {
			return
		}
		end := w.post(ctx, lines)
		if end.err == nil {
			continue
		}
		w.program.o.Log(end.err)
		if !end.refused && !end.unknown || !pause(ctx, max(delays.next(), end.after)) {
			return
		}
	}
}

// follow receives the orders until the run has ended.
func (w *Work) follow(ctx context.Context) {
	s := w.program.session
	f := &follower{client: s.client, path: s.path("runs", string(w.Claimed.Run.ID), "orders"), query: w.query(), lost: w.program.o.Log}
	f.yield = func(ev shoal.Event, err error) bool {
		var o shoal.Order
		if json.Unmarshal(ev.Data, &o) != nil {
			return true
		}
		switch o.Type {
		case shoal.OrderAnswer:
			w.answer(o)
		case shoal.OrderSteer:
			w.offer(o)
		case shoal.OrderCancel:
			w.cancel(ErrRunEnded)
			return false
		}
		return true
	}
	for delays := (backoff{first: callFirst, most: callMost}); ; {
		err := f.run(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		w.program.o.Log(err)
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.Conflict || !w.holds(ctx) || !pause(ctx, delays.next()) {
			return
		}
	}
}
