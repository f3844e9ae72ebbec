package app_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/client/agentserve"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// Events come as they happen, also when the stream was quiet for a while.
func TestEventsOverTLS(t *testing.T) {
	overTLS(t, func(t *testing.T, s *secureServer) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		operator, posted := s.admin.Session(shoal.DefaultSession), 0
		for event, err := range operator.Follow(ctx, client.FollowOptions{Space: app.Welcome}) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Type == shoal.EventMessageCreated {
				if posted == 3 {
					return
				}
			} else if posted > 0 {
				continue
			}
			if _, err := s.writer.Post(ctx, app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("news")}}); err != nil {
				t.Fatal(err)
			}
			posted++
		}
		t.Error("the stream has ended")
	})
}

// A wait whose client leaves ends.
func TestAbandonedWaitOverTLS(t *testing.T) {
	overTLS(t, func(t *testing.T, s *secureServer) {
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { // ends with ctx
			_, err := s.admin.Session(shoal.DefaultSession).Inbox(shoal.Operator, client.InboxOptions{Kind: shoal.WaitMentions}).Next(ctx)
			ended <- err
		}()
		awaitState(t, s.admin, shoal.Waiting)
		leave()
		if err := <-ended; err == nil {
			t.Error("the wait was answered")
		}
		awaitState(t, s.admin, shoal.Connected)
	})
}

// The end of the server ends a wait as timed out.
func TestStopEndsWaitsOverTLS(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			s := startSecure(t, http2)
			answered := make(chan string, 1)
			go func() {
				_, text := s.call(t, "", "POST", "/v1/sessions/default/entities/operator/wait", `{"kind":"mentions","timeoutMs":600000}`)
				answered <- text
			}()
			awaitState(t, s.admin, shoal.Waiting)
			s.Stop()
			if text := <-answered; !strings.Contains(text, `"timedOut":true`) {
				t.Errorf("the wait is answered with %s", text)
			}
		})
	}
}

// The largest file arrives whole, and comes back.
func TestUploadOverTLS(t *testing.T) {
	overTLS(t, func(t *testing.T, s *secureServer) {
		data := bytes.Repeat([]byte("shoal\n"), shoal.MaxFile/6)
		operator := s.admin.Session(shoal.DefaultSession)
		made, err := operator.UploadFile(t.Context(), "large.txt", "text/plain", data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := operator.DownloadFile(t.Context(), made.ID)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("got %d bytes of %d, %v", len(got), len(data), err)
		}
	})
}

// A program executes a run: it waits for it, and reports its work as lines of JSON.
func TestRemoteRunOverTLS(t *testing.T) {
	overTLS(t, func(t *testing.T, s *secureServer) {
		operator := s.admin.Session(shoal.DefaultSession)
		if _, err := operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {}, "remote": {}}`)); err != nil {
			t.Fatal(err)
		}
		clerk := s.client(t, apptest.Key(t, s.admin, "clerk"), "").Session(shoal.DefaultSession)
		if _, err := operator.AddMember(t.Context(), app.Welcome, "clerk"); err != nil {
			t.Fatal(err)
		}
		works, err := agent.New(script.Func(func(*agent.Request) script.Answer { return script.Answer{Text: "(scripted) done"} }), agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- clerk.Serve(ctx, "clerk", client.ServeOptions{}, agentserve.Handler(works)) }()
		asked, err := operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("work")}, Mentions: []shoal.EntityID{"clerk"}})
		if err != nil {
			t.Fatal(err)
		}
		for event, err := range operator.Follow(t.Context(), client.FollowOptions{Run: asked.Runs[0].RunID}) {
			if err != nil || event.Type == shoal.EventRunFailed {
				t.Fatalf("%v, %v", event, err)
			}
			if event.Type == shoal.EventRunCompleted {
				break
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
