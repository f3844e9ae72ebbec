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
	"github.com/shoal-dev/shoal/internal/approval"
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
	// Tool and Input are the call that a dialog asks for, or that was executed.
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
}

// permissionRequest is the event of a dialog that asks for a permission.
const permissionRequest = "PermissionRequest"

// call names the call of an event by its tool and arguments.
func (e event) call() string { return approval.ArgsHash(e.Tool, e.Input) }

// Main handles one event of a coding agent, waits until a message arrives if no other hook does, prints
// it to out and returns the exit code. Nothing but a message, or one that was not answered, makes that
// [Woken]: a coding agent whose hook always fails with that code would never stop. At the event of a
// permission it prints what was decided on the server to answers, or nothing.
func Main(ctx context.Context, args []string, in io.Reader, answers, out io.Writer) int {
	woken, err := run(ctx, args, in, answers, out)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(out, "shoal %s: %v\n", connect.WakeHook, err) // nobody may read it
		return 1
	case woken:
		return Woken
	}
	return 0
}

// kind is a coding agent whose hooks start this program.
type kind struct {
	name    string // in the arguments
	client  string // as in `shoal connect`
	via     string // as senders read it
	harness string
}

var kinds = []kind{
	{name: "claude", client: "claude-code", via: "claude-hook", harness: "claude-code"},
	{name: "codex", client: "codex", via: "codex-queue", harness: "codex"},
}

func kindOf(args []string) (kind, error) {
	for _, k := range kinds {
		if len(args) > 0 && args[0] == k.name {
			return k, nil
		}
	}
	return kind{}, errors.New("it is started by a hook that `shoal connect claude-code --wake` writes; name the client: claude or codex")
}

func run(ctx context.Context, args []string, in io.Reader, answers, out io.Writer) (woken bool, err error) {
	k, err := kindOf(args)
	if err != nil {
		return false, err
	}
	flags := flag.NewFlagSet(connect.WakeHook, flag.ContinueOnError)
	flags.SetOutput(out)
	entry := flags.String("entry", "shoal", "the name of the server in the client's configuration")
	pid := flags.Int("owner", 0, "wait for this process of Codex")
	if err := flags.Parse(args[1:]); err != nil {
		return false, err
	}
	if *pid != 0 {
		h, err := newHook(k, *entry, owner{pid: *pid}, out)
		if err != nil {
			return false, err
		}
		return false, h.waitForCodex(ctx)
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
	h, err := newHook(k, *entry, findOwner(k, os.Getenv), out)
	if err != nil {
		return false, err
	}
	h.answers = answers
	if k.name == "codex" {
		return false, h.handleCodex(e, *entry)
	}
	return h.handle(ctx, e)
}

// hook is the program for one event.
type hook struct {
	kind
	server *client.Client
	owner  owner
	state  state
	tools  string // what the names of the tools of the server begin with
	out    io.Writer
	// answers is where the client reads decisions about permissions.
	answers io.Writer
}

func newHook(k kind, entry string, o owner, out io.Writer) (*hook, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	machine, err := connect.Here(dir)
	if err != nil {
		return nil, err
	}
	of, err := connect.ClientOf(k.client)
	if err != nil {
		return nil, err
	}
	url, key, err := machine.KeyOf(of, entry)
	if err != nil {
		return nil, err
	}
	server, err := client.New(client.Options{URL: url, Key: key, RetryFor: -1})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(url + "\n" + key))
	h := &hook{kind: k, server: server, owner: o, tools: "mcp__" + entry + "__", out: out}
	h.state = state{dir: filepath.Join(machine.Wakes(), hex.EncodeToString(sum[:8])), name: k.name + "-" + strconv.Itoa(o.pid)}
	return h, os.MkdirAll(h.state.dir, 0o700)
}

// remember remembers what an event says of the model.
func (h *hook) remember(e event) error {
	if e.Name != "UserPromptSubmit" {
		// At the start of a session no turn can be at work, whether an earlier one has ended or not.
		return h.state.setBusy(false)
	}
	if err := h.state.markSeen(e.Prompt); err != nil {
		return err
	}
	return h.state.setBusy(true)
}

// handle remembers what the event says, and waits, if no other hook does.
func (h *hook) handle(ctx context.Context, e event) (woken bool, err error) {
	switch e.Name {
	case "SessionStart", "UserPromptSubmit", "Stop":
	case permissionRequest:
		return false, h.ask(ctx, e)
	case "PostToolUse", "PostToolUseFailure":
		return false, h.state.endAsk(e.call())
	default:
		return false, nil
	}
	if err := errors.Join(h.remember(e), h.state.endAsks()); err != nil {
		return false, err
	}
	switch e.Name {
	case "SessionStart": // its model does not know the mentions of an earlier conversation
		_, err = h.state.takeRead()
	case "Stop":
		woken = h.guard(ctx)
	}
	if woken || err != nil {
		return woken, err
	}
	lock, err := filelock.Try(h.state.path(".lock"))
	if lock == nil || err != nil {
		return false, err // another hook of this process waits, and acknowledges what the model has
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return h.wait(ctx)
}

// runner names this machine, as far as that is an id.
func runner() string {
	host, err := os.Hostname()
	if err != nil || shoal.CheckID("runner", host) != nil {
		return ""
	}
	return host
}
