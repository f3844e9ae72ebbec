package middleware

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// Cassette records the model calls of agents in a file, or replays them from it, so that
// tests run without a provider and always in the same way. [Record] and [Replay] return
// one; Middleware gives it to an agent. It is safe for concurrent use.
//
// The file has one line of JSON for each call: what identifies the request, the beginning
// of its last text, the answer in its pieces, and the failure if there was one. It contains
// what the models answered and neither keys nor whole requests.
type Cassette struct {
	mu     sync.Mutex
	file   *os.File                  // while recording
	tracks map[string][]*trackRecord // while replaying, by request
	left   int
	err    error
}

// trackRecord is a recorded call.
type trackRecord struct {
	Request string        `json:"request"`
	Said    string        `json:"said"`
	Chunks  []chunkRecord `json:"chunks,omitempty"`
	Failure *failure      `json:"failure,omitempty"`
}

// failure is an [agent.ModelError] in a recording.
type failure struct {
	Class      agent.ErrorClass `json:"class"`
	Provider   string           `json:"provider,omitempty"`
	Status     int              `json:"status,omitempty"`
	Code       string           `json:"code,omitempty"`
	Detail     string           `json:"detail,omitempty"`
	RetryAfter time.Duration    `json:"retryAfter,omitempty"` // in nanoseconds
	Cause      string           `json:"cause,omitempty"`
}

func failureOf(e *agent.ModelError) *failure {
	f := &failure{Class: e.Class, Provider: e.Provider, Status: e.Status, Code: e.Code, Detail: e.Detail, RetryAfter: e.RetryAfter}
	if e.Err != nil {
		f.Cause = e.Err.Error()
	}
	return f
}

func (f *failure) modelError() *agent.ModelError {
	e := &agent.ModelError{Class: f.Class, Provider: f.Provider, Status: f.Status, Code: f.Code, Detail: f.Detail, RetryAfter: f.RetryAfter}
	if f.Cause != "" {
		e.Err = errors.New(f.Cause)
	}
	return e
}

// Record writes the calls of the agents that use the cassette to a new file at path, which
// replaces an older one. Close ends it.
func Record(path string) (*Cassette, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("middleware.Record: %w", err)
	}
	return &Cassette{file: f}, nil
}

// Replay answers calls with what [Record] has written to the file at path. Equal requests
// are answered in the order of their recording, each recorded call once. A request that was
// not recorded fails with [agent.ClassInvalid] and says so; the model is never called.
// Answers are replayed without delay and with the recorded usage.
func Replay(path string) (*Cassette, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("middleware.Replay: %w; make the cassette with Record", err)
	}
	c := &Cassette{tracks: map[string][]*trackRecord{}}
	lines := bufio.NewReader(bytes.NewReader(text))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return c, nil
		}
		track := &trackRecord{}
		if err := json.Unmarshal(line, track); err != nil {
			return nil, fmt.Errorf("middleware.Replay: line %d of %s is damaged: %w; record it anew", n, path, err)
		}
		c.tracks[track.Request] = append(c.tracks[track.Request], track)
		c.left++
	}
}

// Middleware returns the cassette for Options.Middleware.
func (c *Cassette) Middleware() agent.Middleware {
	return agent.Middleware{Name: "cassette", Model: c.wrap}
}

// Close ends a recording: its error is the first failure to write it. After replaying, the
// error says how many recorded calls were not made.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		return errors.Join(c.err, c.file.Close())
	}
	if c.left > 0 {
		return fmt.Errorf("cassette: %d of the recorded calls were not made; record it anew if that is intended", c.left)
	}
	return nil
}

func (c *Cassette) wrap(next agent.ModelFunc) agent.ModelFunc {
	return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
		key, err := fingerprint(req)
		switch {
		case err != nil:
			return replayed(ctx, nil, err)
		case c.tracks != nil:
			return c.play(ctx, key, req)
		}
		return c.record(next(ctx, req), key, req)
	}
}

func (c *Cassette) play(ctx context.Context, key string, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	tracks := c.tracks[key]
	if len(tracks) == 0 {
		return replayed(ctx, nil, &agent.ModelError{
			Class: agent.ClassInvalid, Provider: "cassette", Code: "not_recorded",
			Detail: fmt.Sprintf("no call is left in the recording for a request of %d messages and %d tools that ends with %q: the instructions, the history, the tools or the settings have changed. Record it anew.", len(req.Messages), len(req.Tools), beginningOfLast(req)),
		})
	}
	track := tracks[0]
	c.tracks[key] = tracks[1:]
	c.left--
	chunks := make([]agent.Chunk, 0, len(track.Chunks))
	for _, one := range track.Chunks {
		chunks = append(chunks, one.chunk())
	}
	if track.Failure == nil {
		return replayed(ctx, chunks, nil)
	}
	return replayed(ctx, chunks, track.Failure.modelError())
}

// record passes on an answer and writes it when it has ended. A call that the agent itself
// ends, such as one that is canceled, is not written.
func (c *Cassette) record(answer iter.Seq2[agent.Chunk, error], key string, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		track := &trackRecord{Request: key, Said: beginningOfLast(req)}
		for chunk, err := range answer {
			if err == nil {
				track.Chunks = append(track.Chunks, recordOf(chunk))
			}
			var failed *agent.ModelError
			if errors.As(err, &failed) {
				track.Failure = failureOf(failed)
			}
			if track.Failure != nil || err == nil && chunk.Kind == agent.ChunkFinish {
				c.write(track)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (c *Cassette) write(track *trackRecord) {
	line, err := json.Marshal(track)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		_, err = c.file.Write(append(line, '\n'))
	}
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("cassette: %w", err)
	}
}

// beginningOfLast returns the beginning of the last message, for people.
func beginningOfLast(req *agent.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	last := req.Messages[len(req.Messages)-1]
	text := last.Text()
	for _, r := range last.Results() {
		text += r.Text
	}
	const most = 80
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
