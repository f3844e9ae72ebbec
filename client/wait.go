package client

import (
	"context"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	// waitRound is the longest duration of one request of a wait: proxies often end a
	// request after a minute without data.
	waitRound = 50 * time.Second
	// waitGrace is how much later than requested the response to a wait may arrive.
	waitGrace = 15 * time.Second
)

// WaitRequest is the input of a wait.
type WaitRequest struct {
	// Kind selects the messages, by default WaitMentions.
	Kind shoal.WaitKind
	// Timeout is how long to wait; 0 checks once and returns. It may be longer than
	// shoal.MaxWait.
	Timeout time.Duration
	// Space and From restrict the wait, if set.
	Space shoal.SpaceID
	From  []shoal.EntityID
	// Ack acknowledges the messages of an earlier result: it is that result's cursor. After
	// the first Ack, this is the only way in which a key acknowledges.
	Ack string
	// Redeliver requests all messages that are not acknowledged, including those of the
	// last result.
	Redeliver bool
	// Adapter says that the caller is a program that wakes the model of the entity; see
	// shoal.WaitAdapter. It acknowledges nothing but what Ack names.
	Adapter *shoal.WaitAdapter
}

// waitBody is a wait as the server takes it.
type waitBody struct {
	Kind      shoal.WaitKind     `json:"kind"`
	TimeoutMs int64              `json:"timeoutMs"`
	SpaceID   shoal.SpaceID      `json:"spaceId,omitempty"`
	From      []shoal.EntityID   `json:"from,omitempty"`
	Ack       string             `json:"ack,omitempty"`
	Redeliver bool               `json:"redeliver,omitempty"`
	Adapter   *shoal.WaitAdapter `json:"adapter,omitempty"`
}

// Wait returns the unread messages of the entity's inbox: at once if there are any, else
// when the first arrives, else timed out. It makes as many requests as necessary. If a
// server that was reached becomes unreachable, Wait continues, and returns an error only if
// the server is still unreachable at the end.
func (s *Session) Wait(ctx context.Context, entity shoal.EntityID, req WaitRequest) (shoal.WaitResult, error) {
	w := waiting{session: s, entity: entity, req: req, ends: time.Now().Add(req.Timeout)}
	result, err := w.run(ctx)
	return result, named("client.Wait", err)
}

// waiting is an active wait.
type waiting struct {
	session *Session
	entity  shoal.EntityID
	req     WaitRequest
	ends    time.Time
	forever bool // never ends
}

// left returns the remaining time of the wait.
func (w *waiting) left() time.Duration {
	if w.forever {
		return waitRound
	}
	return max(0, time.Until(w.ends))
}

func (w *waiting) run(ctx context.Context) (shoal.WaitResult, error) {
	delays := backoff{first: callFirst, most: watchMost}
	reached, began := false, time.Now()
	for tries := 1; ; {
		var result shoal.WaitResult
		round := time.Now()
		end := w.round(ctx, &result)
		if end.sent {
			reached, delays.first = true, watchFirst
		}
		away := max(delays.next(), end.after)
		switch {
		case end.err == nil && !result.TimedOut, end.err == nil && w.left() == 0:
			result.TimeoutMs = w.req.Timeout.Milliseconds()
			return result, nil
		case end.err == nil:
			tries = 1
			if time.Since(round) > time.Second {
				delays.reset()
				continue
			}
			// The server ended this round early, to let another wait of the
			// entity in. Coming back at once would only push that one out.
		case !end.mayRepeat(false), w.session.client.gaveUp(tries, time.Since(began)+away) && (!reached || w.left() == 0):
			return result, end.err
		default:
			tries++
		}
		if left := w.left(); left > 0 {
			away = min(away, left)
		}
		if !pause(ctx, away) {
			return result, context.Cause(ctx)
		}
	}
}

// Resumed acknowledges exactly the messages of the wait that returned cursor, as Ack of a
// [WaitRequest] does, without waiting again. It is for programs that wait for a model and know
// when it starts to work on the messages.
func (s *Session) Resumed(ctx context.Context, entity shoal.EntityID, cursor string) error {
	in := call{op: "client.Resumed", method: http.MethodPost, path: s.path("entities", string(entity), "resumed")}
	in.body = struct {
		Cursor string `json:"cursor"`
	}{cursor}
	return s.client.do(ctx, in, nil)
}

// round makes one request of the wait.
func (w *waiting) round(ctx context.Context, result *shoal.WaitResult) outcome {
	held := min(w.left(), waitRound)
	held = (held + time.Millisecond - 1).Truncate(time.Millisecond) // rounded up, so that the round is not over before the wait
	body := waitBody{
		Kind: w.req.Kind, TimeoutMs: held.Milliseconds(), SpaceID: w.req.Space, From: w.req.From, Ack: w.req.Ack, Redeliver: w.req.Redeliver, Adapter: w.req.Adapter,
	}
	if body.Kind == "" {
		body.Kind = shoal.WaitMentions
	}
	return w.session.client.try(ctx, call{
		method: http.MethodPost, path: w.session.path("entities", string(w.entity), "wait"), body: body, within: held + waitGrace,
	}, result)
}
