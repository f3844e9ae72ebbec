package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// kindNotUp is the failure of a server that did not start.
const kindNotUp shoal.Kind = "not_started"

// DownCommand is shoal down.
type DownCommand struct {
	Timeout time.Duration `help:"How long to wait until the server has ended." default:"30s"`
}

// downResult is what down has to say.
type downResult struct {
	Stopped bool   `json:"stopped"`
	PID     int    `json:"pid,omitempty"`
	Data    string `json:"data"`
}

// Run stops the server that up has started, and waits until it has ended.
func (c *DownCommand) Run(ctx context.Context, sh *cli.Shell) error {
	service, err := backgroundService(sh)
	if err != nil {
		return err
	}
	out := downResult{Data: service.Data}
	if _, err := os.Stat(service.Data); err != nil {
		return c.printResult(sh, out)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, shoal.E("", cli.KindTimedOut, fmt.Sprintf("the server has not ended within %v", c.Timeout)))
	defer cancel()
	unlock, err := service.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	running, alive, err := service.Running()
	if err != nil {
		return err
	}
	if alive && running.Manager == "" {
		return shoal.E("", shoal.Conflict, fmt.Sprintf(
			"A server runs on %s (process %d), but `shoal up` did not start it: stop it where it was started.", service.Data, running.PID))
	}
	if err := service.Stop(ctx); err != nil {
		return err
	}
	out.Stopped, out.PID = alive, running.PID
	return c.printResult(sh, out)
}

func (c *DownCommand) printResult(sh *cli.Shell, out downResult) error {
	state := "stopped"
	if !out.Stopped {
		state = "not running"
	}
	return sh.Output.PrintTable(out, []string{"SERVER", "DATA"}, []string{state, out.Data})
}

// reportNotUp is the failure of a server that is not ready, with what it logged last.
func reportNotUp(sh *cli.Shell, service background.Service, err error) error {
	tail := lastLines(service.LogPath(), 12)
	if !sh.Output.JSON && tail != "" {
		_, _ = fmt.Fprintf(sh.Output.Notes, "The last lines of %s:\n%s", service.LogPath(), safetext.Clean(tail))
	}
	kind, msg := kindNotUp, "The server did not start: its log says why."
	if shoal.KindOf(err) == cli.KindTimedOut {
		kind, msg = cli.KindTimedOut, "The server is not ready yet ("+cli.ErrorText(err)+"). It goes on starting: `shoal up` waits for it again, `shoal down` stops it."
	}
	if sh.Output.JSON && tail != "" {
		msg += "\n" + tail
	}
	return &shoal.Error{Kind: kind, Msg: msg, Err: err}
}

// lastLines returns the end of a file, empty if it cannot be read.
func lastLines(path string, n int) string {
	const most = 8 << 10
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	if _, err := f.Seek(-most, io.SeekEnd); err != nil {
		_, _ = f.Seek(0, io.SeekStart) // it is shorter than that
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	lines := strings.SplitAfter(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
}
