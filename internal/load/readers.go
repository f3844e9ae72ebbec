package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Readers follow streams and count the marked messages in them. They are safe for
// concurrent use.
type Readers struct {
	running sync.WaitGroup
	seen    atomic.Int64

	mu      sync.Mutex
	streams []io.Closer
	took    []float64 // µs from sending to reading
}

// Follow reads a stream on a goroutine of its own until the end of the stream or Close. Close
// closes the stream.
func (r *Readers) Follow(stream io.ReadCloser) {
	r.mu.Lock()
	r.streams = append(r.streams, stream)
	r.mu.Unlock()
	r.running.Go(func() { r.Read(stream) })
}

// Close closes the streams and returns when all goroutines have ended.
func (r *Readers) Close() {
	r.mu.Lock()
	streams := r.streams
	r.streams = nil
	r.mu.Unlock()
	for _, s := range streams {
		_ = s.Close() // the rest of the stream is not needed
	}
	r.running.Wait()
}

// Every message contains the time at which it was sent, between two marks.
const (
	mark       = '@'
	markLength = 21
)

// Marked returns a message that readers count, sent now.
func Marked() string {
	return fmt.Sprintf("@%019d@ and some words more, as people write them", time.Now().UnixNano())
}

// Read counts the marks in a stream until it ends.
func (r *Readers) Read(in io.Reader) {
	buf := make([]byte, 16<<10)
	kept := 0
	for {
		n, err := in.Read(buf[kept:])
		if n == 0 && err != nil {
			return
		}
		now, rest := time.Now().UnixNano(), buf[:kept+n]
		var took []float64
		for {
			i := bytes.IndexByte(rest, mark)
			if i < 0 {
				rest = nil
				break
			}
			if rest = rest[i:]; len(rest) < markLength {
				break
			}
			if sent, err := strconv.ParseInt(string(rest[1:markLength-1]), 10, 64); err == nil && rest[markLength-1] == mark {
				took = append(took, float64(now-sent)/1e3)
				rest = rest[markLength:]
			} else {
				rest = rest[1:]
			}
		}
		kept = copy(buf, rest)
		if len(took) > 0 {
			r.mu.Lock()
			r.took = append(r.took, took...)
			r.mu.Unlock()
			r.seen.Add(int64(len(took)))
		}
	}
}

// Forget resets the counts.
func (r *Readers) Forget() {
	r.mu.Lock()
	r.took = nil
	r.mu.Unlock()
	r.seen.Store(0)
}

// Seen returns the number of messages that all readers together have read.
func (r *Readers) Seen() int64 { return r.seen.Load() }

// Took returns the times from sending to reading, in µs.
func (r *Readers) Took() []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took[:len(r.took):len(r.took)]
}

// Missing returns the number of deliveries that are missing if every reader is to receive each
// of the messages.
func (r *Readers) Missing(messages int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(messages)*int64(len(r.streams)) - r.seen.Load()
}

// Fan configures publishing to readers.
type Fan struct {
	Length time.Duration
	// Pace is the time from one message to the next. 0 means as fast as possible: a message
	// is sent when at most Ahead messages are on their way to the slowest reader.
	Pace  time.Duration
	Ahead int
	// Publish returns when the message is stored.
	Publish func(ctx context.Context, text string) error
}

// lateAtMost is the maximum wait for missing deliveries at the end.
const lateAtMost = 5 * time.Second

// Publish publishes messages and waits until every reader has all of them, for at most five
// seconds. It returns the number of messages and the total time.
func (r *Readers) Publish(ctx context.Context, f Fan) (sent int, took time.Duration, err error) {
	r.Forget()
	began := time.Now()
	for time.Since(began) < f.Length {
		switch {
		case f.Pace > 0:
			if !Pause(ctx, time.Until(began.Add(time.Duration(sent)*f.Pace))) {
				return sent, 0, context.Cause(ctx)
			}
		case r.Missing(sent-f.Ahead) > 0:
			if !Pause(ctx, 100*time.Microsecond) {
				return sent, 0, context.Cause(ctx)
			}
			continue
		}
		if err := f.Publish(ctx, Marked()); err != nil {
			return sent, 0, err
		}
		sent++
	}
	for ended := time.Now(); r.Missing(sent) > 0 && time.Since(ended) < lateAtMost; {
		if !Pause(ctx, time.Millisecond) {
			return sent, 0, context.Cause(ctx)
		}
	}
	return sent, time.Since(began), nil
}
