package load

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// REST is a world whose pairs use REST. It implements [Pairs].
type REST struct {
	Wire
	*World
	cursors []string
}

// NewREST creates the spaces for the pairs in a world with at least twice as many agents.
func NewREST(ctx context.Context, wire Wire, w *World, pairs int) (*REST, error) {
	return RESTOf(wire, w, pairs), w.Pair(ctx, pairs)
}

// RESTOf uses the existing spaces of the pairs.
func RESTOf(wire Wire, w *World, pairs int) *REST {
	return &REST{Wire: wire, World: w, cursors: make([]string, pairs)}
}

// Posting is the body of a post. Empty mentions mean none: no default recipient acts on it.
type Posting struct {
	Text     string           `json:"text"`
	Mentions []shoal.EntityID `json:"mentions"`
}

// Send posts.
func (s *REST) Send(ctx context.Context, i int, text string, wake bool) error {
	return s.PostTo(ctx, 2*i, SpaceID(i), text, mentioned(i, wake))
}

// PostTo posts as an agent, mentioning others.
func (s *REST) PostTo(ctx context.Context, agent int, space shoal.SpaceID, text string, mentions []shoal.EntityID) error {
	body, err := json.Marshal(Posting{text, mentions})
	if err == nil {
		_, _, err = s.Do(ctx, http.MethodPost, s.MessagesPath(space), Header(s.Keys[agent]), body)
	}
	return err
}

func mentioned(i int, wake bool) []shoal.EntityID {
	if !wake {
		return []shoal.EntityID{}
	}
	return []shoal.EntityID{AgentID(2*i + 1)}
}

// Wait waits for mentions, and acknowledges the entries of the previous wait.
func (s *REST) Wait(ctx context.Context, i int) ([]byte, error) {
	body, err := json.Marshal(Waiting{Kind: shoal.WaitMentions, TimeoutMs: WaitMs, Ack: s.cursors[i]})
	if err != nil {
		return nil, err
	}
	answer, _, err := s.Do(ctx, http.MethodPost, s.WaitPath(2*i+1), Header(s.Keys[2*i+1]), body)
	s.cursors[i] = CursorIn(answer)
	return answer, err
}

// Unread acknowledges the entries of a pair's last wait, and returns the remaining entries of
// its waiter without waiting: none, if each message was delivered once.
func (s *REST) Unread(ctx context.Context, i int) ([]byte, error) {
	body, err := json.Marshal(Waiting{Kind: shoal.WaitMentions, Ack: s.cursors[i]})
	if err != nil {
		return nil, err
	}
	answer, _, err := s.Do(ctx, http.MethodPost, s.WaitPath(2*i+1), Header(s.Keys[2*i+1]), body)
	s.cursors[i] = CursorIn(answer)
	return answer, err
}

// WaitMs is the time-out of a wait, the maximum of Shoal.
const WaitMs = 600_000

// Waiting is the body of a wait, and of the arguments of the wait tool.
type Waiting struct {
	Kind      shoal.WaitKind `json:"kind,omitempty"`
	TimeoutMs int            `json:"timeoutMs"`
	Ack       string         `json:"ack,omitempty"`
}

// CursorIn returns the cursor in the response to a wait over any protocol, without decoding the
// rest; empty if there are no entries.
func CursorIn(answer []byte) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"cursor":"`))
	cursor, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(cursor)
}
