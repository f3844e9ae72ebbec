package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// size is the disk usage of a stopped server.
type size struct {
	files           int
	bytes, messages int64 // of the database; messages in it
}

func sizeOf(t *testing.T, s *program.Server) (out size) {
	t.Helper()
	counts, err := ask(t.Context(), s, "SELECT count(*) FROM messages")
	if err == nil {
		out.messages, err = strconv.ParseInt(counts[0], 10, 64)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(s.Data)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(filepath.Join(s.Data, "shoal.db"))
	if err != nil {
		t.Fatal(err)
	}
	out.files, out.bytes = len(files), file.Size()
	return out
}

// maxGrowth is the allowed relative growth of the disk space of a message, compared with
// the first rounds, including its related rows: events, search index, the run that it
// starts.
const maxGrowth = .25

// compareSizes compares the disk space per message of later lives with that of the first
// ones, and returns a summary of both.
func compareSizes(sizes []size) (summary string, wrong []string) {
	if len(sizes) < 3 {
		return "", []string{fmt.Sprintf("rig: the server was stopped %d times, too few to compare", len(sizes))}
	}
	first, second, last := sizes[0], sizes[1], sizes[len(sizes)-1]
	each := func(a, b size) float64 { return float64(b.bytes-a.bytes) / float64(b.messages-a.messages) }
	before, after := each(first, second), each(second, last)
	if after > before*(1+maxGrowth) {
		wrong = append(wrong, fmt.Sprintf("leaked: a message takes %.0f bytes of the database, one of the first rounds took %.0f", after, before))
	}
	if last.files > first.files {
		wrong = append(wrong, fmt.Sprintf("leaked: got %d files besides the database, %d at first", last.files-1, first.files-1))
	}
	return fmt.Sprintf("%.0f and then %.0f bytes of the database for each message", before, after), wrong
}
