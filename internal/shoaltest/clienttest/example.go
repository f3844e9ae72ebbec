package clienttest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// Books checks an example of a remote agent with the real program: it shows a card, books after a
// person has approved it, and ends in order. command starts the example.
func Books(t *testing.T, built *program.Shoal, command ...string) {
	t.Helper()
	server := program.NewServer(t, built.Path())
	server.Start(t)
	operator, key := remote(t, server)
	agent := start(t, command, server.URL(), key)
	for _, approved := range []bool{true, false} {
		got := booked(t, operator, approved)
		want := `done (scripted) Here is a trip.; done TripCard{"to":"Bergen"}; done book{"to":"Bergen"}"booked: Bergen"; done (scripted) The tool says: booked: Bergen.`
		if !approved {
			want = `done (scripted) Here is a trip.; done TripCard{"to":"Bergen"}; denied book{"to":"Bergen"}; done (scripted) The tool says: nothing, as it was not approved.`
		}
		if got != want {
			t.Errorf("approved %v: shown is\n%s\nwant\n%s", approved, got, want)
		}
	}
	if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := agent.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
}

// remote makes clerk a remote agent in the space welcome, and returns the operator's session
// and the key of clerk.
func remote(t *testing.T, server *program.Server) (*client.Session, string) {
	t.Helper()
	admin, err := os.ReadFile(filepath.Join(server.Data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: server.URL(), Key: strings.TrimSpace(string(admin)), As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Session(shoal.DefaultSession)
	if _, err := s.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {}, "remote": {}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddMember(t.Context(), "welcome", "clerk"); err != nil {
		t.Fatal(err)
	}
	key, err := c.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, EntityID: "clerk"})
	if err != nil {
		t.Fatal(err)
	}
	return s, *key.Secret
}

// start runs the agent until the test ends.
func start(t *testing.T, command []string, url, key string) *exec.Cmd {
	t.Helper()
	agent := exec.CommandContext(t.Context(), command[0], command[1:]...)
	agent.Env = append(os.Environ(), "SHOAL_URL="+url, "SHOAL_KEY="+key)
	agent.WaitDelay = 10 * time.Second
	var notes bytes.Buffer
	agent.Stdout, agent.Stderr = &notes, &notes
	if err := agent.Start(); err != nil {
		t.Fatalf("%v; run `make setup`", err)
	}
	t.Cleanup(func() {
		_ = agent.Process.Kill() // it may have ended
		if t.Failed() {
			t.Logf("the agent:\n%s", notes.String())
		}
	})
	return agent
}

// booked asks for a trip, answers the request for a permission, and returns what was shown.
func booked(t *testing.T, s *client.Session, approved bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked, err := s.Post(ctx, "welcome", shoal.Draft{Parts: []shoal.Part{shoal.Text("Book me a trip to Bergen")}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil || len(asked.Runs) != 1 {
		t.Fatalf("%v, %v", asked.Runs, err)
	}
	for event, err := range s.Follow(ctx, client.FollowOptions{Run: asked.Runs[0].RunID}) {
		if err != nil {
			t.Fatal(err)
		}
		for a, err := range s.PendingActions(ctx, client.PendingOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.AnswerPending(ctx, a.ID, shoal.PendingAnswer{Approved: &approved}); err != nil {
				t.Fatal(err)
			}
		}
		if event.Type == shoal.EventRunCompleted || event.Type == shoal.EventRunFailed {
			break
		}
	}
	all, err := s.Messages(ctx, "welcome", client.MessagesOptions{After: asked.Seq})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	var parts []string
	for _, p := range all[0].Parts {
		parts = append(parts, strings.TrimSpace(string(p.Status)+" "+p.ToolName+p.Text+string(p.Args)+string(p.Result)))
	}
	return strings.Join(parts, "; ")
}
