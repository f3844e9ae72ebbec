package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Lines is a program that reads lines of JSON and writes others, for example a client in another
// language.
type Lines struct {
	// In is its standard input: the end of it ends the program.
	In io.WriteCloser
	// Out are the lines that it writes. The channel is closed when it has ended.
	Out <-chan []byte

	t testing.TB
}

// StartLines starts a program in the directory of the test. It ends with the test; if that fails, what the
// program wrote to its standard error is logged.
func StartLines(t testing.TB, name string, args ...string) *Lines {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.WaitDelay = 10 * time.Second
	var notes bytes.Buffer
	cmd.Stderr = &notes
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; run `make setup`", err)
	}
	lines := make(chan []byte, 1024)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 64<<20)
		for scan.Scan() {
			lines <- bytes.Clone(scan.Bytes())
		}
	})
	t.Cleanup(func() {
		_ = in.Close() // it may have ended
		for range lines {
		}
		reader.Wait()
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "killed") || t.Failed() {
			t.Logf("%s ended with %v:\n%s", name, err, notes.String())
		}
	})
	return &Lines{In: in, Out: lines, t: t}
}

// Send writes a value as a line.
func (l *Lines) Send(value any) {
	l.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.In.Write(append(text, '\n')); err != nil {
		l.t.Fatal(err)
	}
}

// Next decodes the next line into out. The test fails if no line arrives within patience.
func (l *Lines) Next(patience time.Duration, out any) {
	l.t.Helper()
	select {
	case line, more := <-l.Out:
		if !more {
			l.t.Fatal("the program has ended")
		}
		if err := json.Unmarshal(line, out); err != nil {
			l.t.Fatalf("%s: %v", line, err)
		}
	case <-time.After(patience):
		l.t.Fatalf("the program said nothing for %v", patience)
	}
}
