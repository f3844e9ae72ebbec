package wakehook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/connect"
	"github.com/shoal-dev/shoal/internal/filelock"
)

// Name is the command that hooks start.
const Name = connect.WakeHook

// Woken is the exit code with which a hook has its coding agent read what it printed.
const Woken = 2

// maxInput is how much of an event is read: the prompt of a person is part of it.
const maxInput = 64 << 20

// event is what Claude Code sends to a hook.
type event struct {
	Session string `json:"session_id"`
	Name    string `json:"hook_event_name"`
	Source  string `json:"source"` // of SessionStart
	Prompt  string `json:"prompt"` // of UserPromptSubmit
}

// Main handles one event of a coding agent, waits until a message arrives if no other hook does, prints
// it to out and returns the exit code. Nothing but a message makes that [Woken]: a coding agent whose
// hook always fails with that code would never stop.
func Main(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
	woken, err := run(ctx, args, in, out)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(out, "shoal %s: %v\n", connect.WakeHook, err) // nobody may read it
		return 1
	case woken:
		return Woken
	}
	return 0
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (woken bool, err error) {
	if len(args) == 0 || args[0] != "claude" {
		return false, errors.New("it is started by a hook that `shoal connect claude-code --wake` writes; name the client: claude")
	}
	flags := flag.NewFlagSet(connect.WakeHook, flag.ContinueOnError)
	flags.SetOutput(out)
	entry := flags.String("entry", "shoal", "the name of the server in the client's configuration")
	if err := flags.Parse(args[1:]); err != nil {
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return false, err
	}
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return false, fmt.Errorf("the event of the hook cannot be read: %w", err)
	}
	// Without a terminal, Claude Code ends after its answer, or another program decides when it works.
	if strings.HasPrefix(os.Getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk-") {
		return false, nil
	}
	h, err := newHook(*entry, out)
	if err != nil {
		return false, err
	}
	return h.handle(ctx, e)
}

// hook is the program for one event.
type hook struct {
	server *client.Client
	owner  owner
	state  state
	tools  string // what the names of the tools of the server begin with
	out    io.Writer
}

func newHook(entry string, out io.Writer) (*hook, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	machine, err := connect.Here(dir)
	if err != nil {
		return nil, err
	}
	claude, err := connect.ClientOf("claude-code")
	if err != nil {
		return nil, err
	}
	url, key, err := machine.KeyOf(claude, entry)
	if err != nil {
		return nil, err
	}
	server, err := client.New(client.Options{URL: url, Key: key, RetryFor: -1})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(url + "\n" + key))
	h := &hook{server: server, owner: findOwner(os.Getenv), tools: "mcp__" + entry + "__", out: out}
	h.state = state{dir: filepath.Join(machine.Wakes(), hex.EncodeToString(sum[:8])), name: "claude-" + strconv.Itoa(h.owner.pid)}
	return h, os.MkdirAll(h.state.dir, 0o700)
}

// handle remembers what the event says of the model, and then waits.
func (h *hook) handle(ctx context.Context, e event) (woken bool, err error) {
	var seen delivery
	switch e.Name {
	case "SessionStart":
		// Only now can no turn be at work; a conversation that was cleared has no end of its own.
		err = h.state.setBusy(false)
	case "UserPromptSubmit":
		if seen, err = h.state.markSeen(e.Prompt); err == nil {
			err = h.state.setBusy(true)
		}
	case "Stop":
		err = h.state.setBusy(false)
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	lock, err := filelock.Try(h.state.path(".lock"))
	if err != nil {
		return false, err
	}
	if lock == nil { // another hook of this process waits
		return false, h.reportSeen(ctx, seen)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return h.wait(ctx)
}

// reportSeen acknowledges what the model has, when another hook waits.
func (h *hook) reportSeen(ctx context.Context, d delivery) error {
	if d.ID == "" {
		return nil
	}
	w := &waiter{hook: h}
	if err := w.find(ctx); err != nil {
		return err
	}
	_, err := w.acknowledge(ctx, d)
	return err
}

// runner names this machine, as far as that is an id.
func runner() string {
	host, err := os.Hostname()
	if err != nil || shoal.CheckID("runner", host) != nil {
		return ""
	}
	return host
}
