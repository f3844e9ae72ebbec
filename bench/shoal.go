package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// world is what stands in a Shoal server before it is measured: pair i are the
// agents a2i and a2i+1 in the space pair-i, each with its own key, all in one
// session.
type world struct {
	admin   *client.Client
	session *client.Session
	keys    []string // by agent
}

func agentID(n int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("a%d", n)) }
func pair(i int) shoal.SpaceID     { return shoal.SpaceID(fmt.Sprintf("pair-%d", i)) }

// adminOf returns a client with the key in the server's data directory.
func adminOf(p *process) (*client.Client, string, error) {
	data := p.cmd.Args[len(p.cmd.Args)-1]
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		return nil, "", err
	}
	secret := strings.TrimSpace(string(key))
	admin, err := client.New(client.Options{URL: p.url(), Key: secret})
	return admin, secret, err
}

func newWorld(ctx context.Context, p *process, pairs int) (*world, error) {
	admin, _, err := adminOf(p)
	if err != nil {
		return nil, err
	}
	w := &world{admin: admin, session: admin.Session(shoal.DefaultSession), keys: make([]string, 2*pairs)}
	if err := w.mint(ctx); err != nil {
		return nil, err
	}
	for i := range pairs {
		both := []shoal.EntityID{agentID(2 * i), agentID(2*i + 1)}
		if _, err := w.session.CreateSpace(ctx, shoal.NewSpace{ID: pair(i), Name: "Pair", Members: both}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// mint makes the agents with their keys, several at once, which share commits.
func (w *world) mint(ctx context.Context) error {
	var minting sync.WaitGroup
	failed := make([]error, 16)
	for k := range failed {
		minting.Go(func() {
			for n := k; n < len(w.keys) && failed[k] == nil; n += len(failed) {
				made, err := w.admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, EntityID: agentID(n)})
				if failed[k] = err; err == nil {
					w.keys[n] = *made.Secret
				}
			}
		})
	}
	minting.Wait()
	return errors.Join(failed...)
}

func restHeader(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

const sessionPath = "/v1/sessions/default"

// restSide is Shoal over REST.
type restSide struct {
	wire
	*world
	cursors []string
}

func (s *restSide) name() string      { return restRow }
func (s *restSide) process() *process { return s.wire.process }

func (s *restSide) open(ctx context.Context, pairs int) (err error) {
	s.cursors = make([]string, pairs)
	s.world, err = newWorld(ctx, s.wire.process, pairs)
	return err
}

func (s *restSide) send(ctx context.Context, i int, text string, wake bool) error {
	body, err := json.Marshal(post{Text: text, Mentions: mentioned(i, wake)})
	if err == nil {
		_, _, err = s.do(ctx, http.MethodPost, sessionPath+"/spaces/"+string(pair(i))+"/messages", restHeader(s.keys[2*i]), body)
	}
	return err
}

type post struct {
	Text     string           `json:"text"`
	Mentions []shoal.EntityID `json:"mentions"`
}

func mentioned(i int, wake bool) []shoal.EntityID {
	if !wake {
		return []shoal.EntityID{}
	}
	return []shoal.EntityID{agentID(2*i + 1)}
}

func (s *restSide) wait(ctx context.Context, i int) ([]byte, error) {
	body, err := json.Marshal(longWait{Kind: shoal.WaitMentions, TimeoutMs: waitMs, Ack: s.cursors[i]})
	if err != nil {
		return nil, err
	}
	answer, _, err := s.do(ctx, http.MethodPost, sessionPath+"/entities/"+string(agentID(2*i+1))+"/wait", restHeader(s.keys[2*i+1]), body)
	s.cursors[i] = cursorIn(answer)
	return answer, err
}

const waitMs = 600_000

type longWait struct {
	Kind      shoal.WaitKind `json:"kind,omitempty"`
	TimeoutMs int            `json:"timeoutMs"`
	Ack       string         `json:"ack,omitempty"`
}

// cursorIn finds the cursor in the answer to a wait, over whichever protocol it
// came, without decoding the rest: the driver shares the machine with what it
// measures.
func cursorIn(answer []byte) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"cursor":"`))
	cursor, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(cursor)
}

// toolSide is Shoal over MCP.
type toolSide struct {
	mcpSide
	*world
	cursors []string
}

func (s *toolSide) name() string { return mcpRow }

func (s *toolSide) open(ctx context.Context, pairs int) (err error) {
	s.cursors = make([]string, pairs)
	if s.world, err = newWorld(ctx, s.wire.process, pairs); err != nil {
		return err
	}
	for _, key := range s.keys {
		if err := s.join(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *toolSide) send(ctx context.Context, i int, text string, wake bool) error {
	_, err := s.tool(ctx, 2*i, "send_message", toolPost{pair(i), text, mentioned(i, wake)})
	return err
}

type toolPost struct {
	ThreadID shoal.SpaceID    `json:"threadId"`
	Content  string           `json:"content"`
	Mentions []shoal.EntityID `json:"mentions"`
}

func (s *toolSide) wait(ctx context.Context, i int) ([]byte, error) {
	answer, err := s.tool(ctx, 2*i+1, "wait_for_mentions", longWait{TimeoutMs: waitMs, Ack: s.cursors[i]})
	s.cursors[i] = cursorIn(answer)
	return answer, err
}
