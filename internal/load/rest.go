package load

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// REST is a world as its pairs use it over REST. It implements [Pairs].
type REST struct {
	Wire
	*World
	cursors []string
}

// NewREST makes the spaces of so many pairs in a world of at least twice as many
// agents.
func NewREST(ctx context.Context, wire Wire, w *World, pairs int) (*REST, error) {
	return RESTOf(wire, w, pairs), w.Pair(ctx, pairs)
}

// RESTOf uses spaces of so many pairs that are there.
func RESTOf(wire Wire, w *World, pairs int) *REST {
	return &REST{Wire: wire, World: w, cursors: make([]string, pairs)}
}

// Posting is the body of a post. No mentions are none: nobody acts on it by default.
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

// Wait waits for mentions, and acknowledges what the wait before it returned.
func (s *REST) Wait(ctx context.Context, i int) ([]byte, error) {
	body, err := json.Marshal(Waiting{Kind: shoal.WaitMentions, TimeoutMs: WaitMs, Ack: s.cursors[i]})
	if err != nil {
		return nil, err
	}
	answer, _, err := s.Do(ctx, http.MethodPost, s.WaitPath(2*i+1), Header(s.Keys[2*i+1]), body)
	s.cursors[i] = CursorIn(answer)
	return answer, err
}

// Unread acknowledges what the last wait of a pair returned, and returns what is left
// for its waiter, without waiting: nothing, if each message was delivered once.
func (s *REST) Unread(ctx context.Context, i int) ([]byte, error) {
	body, err := json.Marshal(Waiting{Kind: shoal.WaitMentions, Ack: s.cursors[i]})
	if err != nil {
		return nil, err
	}
	answer, _, err := s.Do(ctx, http.MethodPost, s.WaitPath(2*i+1), Header(s.Keys[2*i+1]), body)
	s.cursors[i] = CursorIn(answer)
	return answer, err
}

// WaitMs is how long a wait waits at most, the longest that Shoal allows.
const WaitMs = 600_000

// Waiting is the body of a wait, and the arguments of the tool that waits.
type Waiting struct {
	Kind      shoal.WaitKind `json:"kind,omitempty"`
	TimeoutMs int            `json:"timeoutMs"`
	Ack       string         `json:"ack,omitempty"`
}

// CursorIn finds the cursor in the answer to a wait, over whichever protocol it
// came, without decoding the rest; empty if nothing came.
func CursorIn(answer []byte) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"cursor":"`))
	cursor, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(cursor)
}
