package release_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// installed is Shoal on a machine.
type installed struct {
	machine
	user    uint32
	shoal   []string // the program
	serve   []string // what starts the server
	keyFile string   // the operator's key, as the test sees it
	npx     bool     // npm, which ends by Ctrl-C itself, starts the program
}

// installedAt is Shoal that was installed for a user of a machine.
func installedAt(m machine, program string) installed {
	return installed{machine: m, user: ann, shoal: []string{program}, serve: []string{program, "serve"}, keyFile: m.path(home + "/.local/share/shoal/operator.key")}
}

// firstOrder starts the server, as a new user does, asks for a laptop, chooses one,
// approves the order, and sees that it is done. It returns how long it took from the
// start of the program to the first page.
func (i installed) firstOrder(t *testing.T) (firstPage time.Duration) {
	t.Helper()
	started := time.Now()
	url, stop := i.start(t)
	page, err := http.Get(url + "/")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(page.Body)
	_ = page.Body.Close()
	if err != nil || page.StatusCode != http.StatusOK || !strings.Contains(string(content), "<title>Shoal</title>") {
		t.Fatalf("the first page is %d %v: %s", page.StatusCode, err, content)
	}
	firstPage = time.Since(started)

	c, err := client.New(client.Options{URL: url, Key: strings.TrimSpace(read(t, i.keyFile))})
	if err != nil {
		t.Fatal(err)
	}
	session := c.Session(shoal.DefaultSession)
	shoalCLI := func(args ...string) string {
		t.Helper()
		return must(t, i.command(t, i.user, slices.Concat(i.shoal, []string{"--url", url}, args)...))
	}
	shoalCLI("send", "welcome", "I need a laptop")
	cards := pending(t, session, "showProductCard", 2)
	if listed := shoalCLI("approvals"); !strings.Contains(listed, string(cards[0].ID)) || !strings.Contains(listed, "Lark Air 13") {
		t.Errorf("shoal approvals prints %q", listed)
	}
	shoalCLI("approvals", "answer", string(cards[0].ID), `{"chosen":true}`)
	shoalCLI("approvals", "answer", string(cards[1].ID), `{"chosen":false}`)
	order := pending(t, session, "placeOrder", 1)[0]
	shoalCLI("approvals", "approve", string(order.ID))
	waitForRun(t, session)
	if runs := shoalCLI("runs", "--agent", "shop-agent"); !strings.Contains(runs, "\tshop-agent\tcompleted\twelcome/operator\t") {
		t.Errorf("shoal runs prints %q", runs)
	}
	messages := all(t, session.Timeline(bounded(t), "welcome", 0))
	if last := messages[len(messages)-1]; !strings.Contains(last.Text(), "your laptop is ordered") {
		t.Errorf("at the end the agent says %q", last.Text())
	}
	stop()
	return firstPage
}

// start runs the server until stop or the end of the test, and returns its URL.
func (i installed) start(t *testing.T) (url string, stop func()) {
	t.Helper()
	server := i.command(t, i.user, i.serve...)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1)
	go func() { // ends with the server's output
		defer close(lines)
		found, said := false, &strings.Builder{}
		for scan := bufio.NewScanner(out); scan.Scan(); {
			said.WriteString(scan.Text() + "\n")
			if _, at, is := strings.Cut(scan.Text(), " is up on "); is && !found {
				found = true
				lines <- at
			}
		}
		if !found {
			lines <- "error: " + said.String()
		}
	}()
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		// As a terminal does for Ctrl-C: to the whole group.
		if err := syscall.Kill(-server.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
		for range lines { // until the output ends
		}
		if err := server.Wait(); err != nil && !i.npx {
			t.Errorf("%v ends with %v after Ctrl-C", server.Args, err)
		}
	}
	t.Cleanup(stop)
	url = <-lines
	if !strings.HasPrefix(url, "http://") {
		t.Fatalf("%v does not start: %s", server.Args, url)
	}
	return url, stop
}

// pending waits until so many calls of a tool wait for an answer, and returns them.
func pending(t *testing.T, session *client.Session, tool string, many int) []shoal.PendingAction {
	t.Helper()
	var found []shoal.PendingAction
	until(t, session, func(ctx context.Context) bool {
		found = slices.DeleteFunc(all(t, session.PendingActions(ctx, client.PendingOptions{})), func(p shoal.PendingAction) bool { return p.ToolName != tool })
		return len(found) == many
	})
	return found
}

func waitForRun(t *testing.T, session *client.Session) {
	t.Helper()
	until(t, session, func(ctx context.Context) bool {
		runs := all(t, session.Runs(ctx, client.RunsOptions{}))
		return len(runs) == 1 && runs[0].Status == shoal.RunCompleted
	})
}

func all[T any](t *testing.T, seq iter.Seq2[T, error]) (items []T) {
	t.Helper()
	for item, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// until checks a condition, at first and after each event of the session.
func until(t *testing.T, session *client.Session, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx := bounded(t)
	for event, err := range session.Follow(ctx, client.FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if (event.Type == shoal.EventSnapshotEnd || strings.HasPrefix(string(event.Type), "pending.") || strings.HasPrefix(string(event.Type), "run.")) && holds(ctx) {
			return
		}
	}
	t.Fatal("the stream of events ended")
}

// describesItself compares what the installed program says of itself with release.json.
func (i installed) describesItself(t *testing.T) {
	t.Helper()
	var said struct {
		Version, Commit, Date, Go, OS, Arch string
		Modules                             []struct{ Path, Version string }
	}
	out := must(t, i.command(t, i.user, append(i.shoal, "version", "--json")...))
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := released(t)
	if said.Version != version || said.Commit != m.Commit || said.Date != m.Date || !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(said.Commit) || said.OS == "" || len(said.Modules) < 20 {
		t.Errorf("shoal version says %s, want version %s, commit %s of %s", out, version, m.Commit, m.Date)
	}
}
