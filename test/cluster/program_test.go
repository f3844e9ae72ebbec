package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// A program whose calls reach all servers in turn executes a run: it writes a text word by
// word, asks for a permission, which is given on one server while another is dead, and
// writes another text. Followers on all servers see each word before the next one is
// written: one message, each text once.
func programCrossesServers(t *testing.T, c *cluster) {
	dan := c.newKey(t, "dan", shoal.Human)
	clerk := c.newKey(t, "clerk", shoal.Agent)
	if _, err := c.admin(t, 0).PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", "agent": {"name": "Clerk"}, "remote": {}}`)); err != nil {
		t.Fatal(err)
	}
	c.space(t, "harbour", "dan", "clerk")
	var followers []*follower
	for _, n := range c.nodes {
		followers = append(followers, n.follow(t, *dan.Secret, "harbour"))
	}
	words, verdict := make(chan string), make(chan client.Verdict, 1)
	stop := c.serveClerk(t, *clerk.Secret, func(ctx context.Context, w *client.Work) error {
		if err := speak(ctx, w, words); err != nil {
			return err
		}
		v, err := w.Permission("hire", "hire", "Hire a boat", map[string]string{"boat": "sail"})
		if err != nil {
			return err
		}
		verdict <- v
		return speak(ctx, w, words)
	})
	defer stop()
	if _, err := c.nodes[1].session(t, *dan.Secret).Post(t.Context(), "harbour", say("A boat, please.", "clerk")); err != nil {
		t.Fatal(err)
	}
	dictate(t, words, firstText, followers)
	for _, f := range followers {
		until(t, "the permission is asked on "+f.node.name, patience, func() bool { return f.saw(shoal.EventPendingOpened) > 0 })
	}
	const killed = 0
	c.balancer.out[killed].Store(true)
	c.nodes[killed].Signal(syscall.SIGKILL)
	<-c.nodes[killed].Ended
	c.approve(t, c.nodes[2], *dan.Secret)
	if v := <-verdict; !v.Approved || v.By != "dan" {
		t.Errorf("the verdict is %+v", v)
	}
	dictate(t, words, secondText, slices.Delete(slices.Clone(followers), killed, killed+1))
	for i, f := range followers {
		if i != killed {
			until(t, "the message is complete on "+f.node.name, patience, func() bool { return f.saw(shoal.EventMessageCompleted) > 0 })
		}
	}
	page, err := c.admin(t, 1).Messages(t.Context(), "harbour", client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, page, firstText, secondText)
	for i, f := range followers {
		if i != killed {
			f.agrees(t, page)
		}
	}
	c.nodes[killed].Start(t)
	c.balancer.out[killed].Store(false)
}

// endOfText ends what is dictated.
const endOfText = ""

// dictate gives a program a text word by word, each when the followers have seen those before.
func dictate(t *testing.T, words chan<- string, text string, followers []*follower) {
	t.Helper()
	written := ""
	for _, word := range append(strings.SplitAfter(text, " "), endOfText) {
		select {
		case words <- word:
		case <-time.After(patience):
			t.Fatalf("the program does not take %q", word)
		}
		written += word
		for _, f := range followers {
			until(t, fmt.Sprintf("%q is seen on %s", written, f.node.name), patience, func() bool { return f.has(written) })
		}
	}
}

// speak writes the words that are dictated.
func speak(ctx context.Context, w *client.Work, words <-chan string) error {
	for {
		select {
		case word := <-words:
			if word == endOfText {
				return nil
			}
			if err := w.Text(word); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// serveClerk executes the runs of clerk through all servers in turn.
func (c *cluster) serveClerk(t *testing.T, key string, handle client.Handler) (stop func()) {
	t.Helper()
	reach, err := client.New(client.Options{URL: "http://" + balanced, Key: key, HTTP: c.balancer.client()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := reach.Session(shoal.DefaultSession).Serve(ctx, "clerk", client.ServeOptions{Log: func(err error) { t.Logf("the program: %v", err) }}, handle); err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	return func() { cancel(); running.Wait() }
}

// approve approves the only open pending action, on a server.
func (c *cluster) approve(t *testing.T, n *node, key string) {
	t.Helper()
	s := n.session(t, key)
	yes, approved := true, 0
	for p, err := range s.PendingActions(t.Context(), client.PendingOptions{Space: "harbour"}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Approved: &yes}); err != nil {
			t.Fatal(err)
		}
		approved++
	}
	if approved != 1 {
		t.Fatalf("%d pending actions are open on %s, want 1", approved, n.name)
	}
}
