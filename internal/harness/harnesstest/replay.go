// Package harnesstest replays what real coding agents have printed to a driver.
package harnesstest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/harness"
)

var update = flag.Bool("update", false, "write the events of the transcripts anew")

// Replay passes every transcript of testdata, NAME.jsonl, line by line to a session that start
// returns, as one turn, and compares the events with those in NAME.events.
func Replay(t *testing.T, start func() (turns *harness.Turns, line func([]byte))) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no transcripts (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			turns, line := start()
			got := events(t, turns, func() {
				for l := range bytes.Lines(text) {
					line(bytes.TrimSpace(l))
				}
			})
			golden := strings.TrimSuffix(file, ".jsonl") + ".events"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the events (-want +got):\n%s", diff)
			}
		})
	}
}

// events runs a turn and returns its events, a line each.
func events(t *testing.T, turns *harness.Turns, feed func()) string {
	t.Helper()
	if err := turns.Begin(); err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	go func() { // it ends with the last line: the turn reads everything
		defer close(fed)
		feed()
		turns.Fail(&harness.ExitError{Reason: "the transcript has ended"})
	}()
	defer func() { <-fed }()
	var all strings.Builder
	for e, err := range turns.Range(t.Context(), func() {}, func() {}) {
		if err != nil {
			fmt.Fprintf(&all, "error: %v\n", err)
			break
		}
		all.WriteString(line(e))
	}
	return all.String()
}

func line(e harness.Event) string {
	switch e := e.(type) {
	case harness.Text:
		return fmt.Sprintf("text %q\n", e.Delta)
	case harness.Thought:
		return fmt.Sprintf("thought %q\n", e.Delta)
	case harness.Tool:
		return fmt.Sprintf("tool %s %s %q %q args=%s output=%q\n", e.CallID, e.State, e.Name, e.Title, e.Args, e.Output)
	case harness.Permission:
		return fmt.Sprintf("permission %s %q %q args=%s text=%q\n", e.CallID, e.Name, e.Title, e.Args, e.Text)
	case harness.Usage:
		cost := "unknown"
		if e.Cost != nil {
			cost = fmt.Sprintf("%.4f", *e.Cost)
		}
		return fmt.Sprintf("usage in=%d cached=%d out=%d cost=%s\n", e.InputTokens, e.CachedTokens, e.OutputTokens, cost)
	case harness.Ended:
		return fmt.Sprintf("ended %s %q\n", e.Stop, e.Text)
	default:
		return fmt.Sprintf("%T\n", e)
	}
}
