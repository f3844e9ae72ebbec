package wakehook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/connect"
	"github.com/shoal-dev/shoal/internal/filelock"
)

// queueWithin is how long Codex may take to accept a message.
const queueWithin = 30 * time.Second

// handleCodex remembers what the event says, and starts the program that waits, unless it runs already. Codex
// waits for its hooks, so this one makes no call.
func (h *hook) handleCodex(e event, entry string) error {
	switch e.Name {
	case "SessionStart", "UserPromptSubmit":
		if err := h.state.setThread(e.Session); err != nil {
			return err
		}
		if err := h.remember(e); err != nil {
			return err
		}
	case "Stop":
		if h.state.thread() != e.Session {
			return nil // of another conversation than the one that is woken
		}
		return h.remember(e)
	default:
		return nil
	}
	lock, err := filelock.Try(h.state.path(".lock"))
	if lock == nil || err != nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return err
	}
	return h.startWaiting(entry)
}

// startWaiting starts this program as the one that waits for the Codex of the hook, apart from it.
func (h *hook) startWaiting(entry string) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(own, connect.WakeHook, "codex", "--entry", entry, "--owner", strconv.Itoa(h.owner.pid))
	cmd.Dir, cmd.SysProcAttr = h.state.dir, apart()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// waitForCodex wakes the conversation of Codex that was used last, until Codex has ended.
func (h *hook) waitForCodex(ctx context.Context) error {
	lock, err := filelock.Try(h.state.path(".lock"))
	if lock == nil || err != nil {
		return err // another one waits
	}
	defer func() { _ = lock.Close() }() // the process ends anyway
	_, err = h.wait(ctx)
	return err
}

// queue has Codex begin a turn with a text, or queue it after the one in progress.
func (w *waiter) queue(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, queueWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "codex", "queue", "--thread", w.state.thread(), "--message", text)
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(string(bytes.TrimSpace(said)), "\n")
		return shoal.E("", shoal.Busy, fmt.Sprintf("codex queue: %v: %s", err, first))
	}
	return nil
}
