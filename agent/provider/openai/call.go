package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

const (
	// An answer is over before its last bytes are; reading them keeps the
	// connection for the next call, waiting for them is not worth more.
	drainTime  = 50 * time.Millisecond
	drainBytes = 16 << 10
)

// answer turns the events of one wire into chunks.
type answer interface {
	// event takes one event; done says that it was the last. It keeps nothing of data.
	event(data []byte) (done bool, err error)
	// whole takes an answer that came in one piece.
	whole(data []byte) error
	// finish returns the finish reason, if the provider sent one; the caller decides
	// whether one is required.
	finish() (reason agent.FinishReason, given bool)
	// tokens returns the usage reported so far, nil without a report.
	tokens() *agent.Usage
}

// Stream makes one call and yields its answer; see [agent.Model].
func (m *model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return m.Call(ctx, func(x *wire.Exchange) error {
		options, err := wire.WithTools(req.Settings.ProviderOptions, m.hosted)
		if err != nil {
			return err
		}
		body, err := encode(m.api.request(m, req), options)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := m.send(ctx, x, body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		a := m.api.answer(m, x)
		reason, err := read(resp.Body, a, x)
		if used := a.tokens(); used != nil {
			x.Emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: used})
		}
		if err != nil || x.Stopped {
			return err
		}
		x.Finish(reason)
		stop := time.AfterFunc(drainTime, cancel)
		defer stop.Stop()
		_, _ = io.CopyN(io.Discard, resp.Body, drainBytes) // whether it worked shows in the next call's connection only
		return nil
	})
}

// read hands the body to a and returns why the answer ended: at the wire's own
// end, or at the stream's once a reason was given.
func read(body io.Reader, a answer, x *wire.Exchange) (agent.FinishReason, error) {
	events := wire.NewEvents(body)
	for n := 0; !x.Stopped; n++ {
		data, err := events.Next()
		switch {
		case err != nil:
			return end(events, err, n, a, x)
		case len(data) == 0:
			n--
			continue
		case string(data) == "[DONE]":
			if reason, _ := a.finish(); n > 0 && reason != "" { // it ends no response
				return reason, nil
			}
			return "", x.StreamError(io.EOF, n)
		case events.IsError:
			return "", x.Failure(0, data)
		}
		done, err := a.event(data)
		switch {
		case err != nil && events.Cut && malformed(err):
			return "", x.StreamError(io.EOF, n)
		case err != nil:
			return "", err
		case done:
			reason, _ := a.finish()
			return reason, nil
		}
	}
	return "", nil
}

// end says what it means that no event follows the first n: err says why. JSON
// in the place of the first is an answer in one piece; later it is an error.
func end(events *wire.Events, err error, n int, a answer, x *wire.Exchange) (agent.FinishReason, error) {
	reason, given := a.finish()
	switch {
	case given && !errors.Is(err, wire.ErrTooLong): // all that counts has come
		return reason, nil
	case !errors.Is(err, wire.ErrNoEvent):
		return "", x.StreamError(err, n)
	}
	data, err := events.Rest()
	switch {
	case err != nil:
		return "", x.StreamError(err, n)
	case n == 0:
		err := a.whole(data)
		reason, _ := a.finish()
		return reason, err
	case parseProblem(data).message != "":
		return "", x.Failure(0, data)
	}
	return "", x.Malformed("JSON in the place of an event", nil)
}

func malformed(err error) bool {
	failure, ok := errors.AsType[*agent.ModelError](err)
	return ok && failure.Class == agent.ClassMalformed
}

// send sends the request; the caller closes the answer's body.
func (m *model) send(ctx context.Context, x *wire.Exchange, body []byte) (*http.Response, error) {
	return x.Post(ctx, m.Escaped(m.path).String(), map[string]string{
		"Accept": "text/event-stream", "User-Agent": "shoal",
		"OpenAI-Organization": m.options.Organization, "OpenAI-Project": m.options.Project,
	}, body)
}
