// Package runner has the command that runs coding agents on this machine for a server.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/runner"
)

// Command is shoal runner.
type Command struct {
	Kind             string          `arg:"" optional:"" help:"claude-code, codex, gemini-cli, opencode, or acp with --program. Without one, all agents of the runner's configuration run."`
	Agent            shoal.EntityID  `help:"The agent, created if new (default: claude, codex, gemini, opencode or agent)." placeholder:"ID"`
	Name             string          `help:"The display name of a new agent." placeholder:"NAME"`
	Dir              string          `help:"The directory in which it works (default: this one)." placeholder:"DIR"`
	Worktree         bool            `help:"Give each conversation a working tree of its own, beside the repository, on a branch shoal/AGENT/SPACE."`
	Mode             harness.Mode    `help:"What it may do without a question: read (and nothing else, ever), ask, or edit files in its directory." enum:"read,ask,edit" default:"ask"`
	Model            string          `help:"The model (default: its own)." placeholder:"NAME"`
	Program          []string        `help:"The program, and then its arguments, instead of the usual ones: --program my-agent --program=--acp." sep:"none" placeholder:"WORD"`
	Environ          []string        `help:"Variables that it may see besides those that it needs." placeholder:"NAME"`
	RespondTo        []string        `help:"Whose mentions make it work: owner, members, or ids." default:"owner" placeholder:"ID"`
	Approve          []string        `help:"Whose approvals count: owner, members, or ids." default:"owner" placeholder:"ID"`
	Space            []shoal.SpaceID `help:"Add it to these spaces (default: welcome, if there is one)." placeholder:"ID"`
	Idle             time.Duration   `help:"How long an unused program stays open." default:"10m"`
	Machine          shoal.RunnerID  `help:"What the server calls this machine (default: its host name)." placeholder:"ID"`
	MaxProcesses     int             `help:"How many programs run at once." default:"4"`
	MaxMemory        runner.Memory   `help:"How much memory all programs may use, such as 4GiB, before unused ones are closed (default: no limit; Linux only)." placeholder:"SIZE"`
	MaxProcessMemory runner.Memory   `help:"How much memory one program may use before it is closed when it is unused." placeholder:"SIZE"`
	Install          bool            `help:"Write a service of systemd or launchd that runs this at every login, instead of running it now." xor:"install"`
	Uninstall        bool            `help:"Remove that service." xor:"install"`
	File             string          `help:"The runner's configuration (default: shoal/runner.yaml in $XDG_CONFIG_HOME or ~/.config)." placeholder:"FILE"`
}

// usual are the names of agents by their kinds.
var usual = map[string]struct {
	id    shoal.EntityID
	title string
}{
	"claude-code": {"claude", "Claude"}, "codex": {"codex", "Codex"}, "gemini-cli": {"gemini", "Gemini"},
	"opencode": {"opencode", "OpenCode"}, "acp": {"agent", "Agent"},
}

// Run runs the agents until the command is interrupted, or installs it.
func (c *Command) Run(ctx context.Context, sh *cli.Shell) error {
	config, err := c.config()
	if err != nil && !c.Uninstall {
		return err
	}
	if c.Uninstall {
		s, err := c.newService(sh)
		if err != nil {
			return err
		}
		return s.uninstall(sh, runtime.GOOS)
	}
	if c.Machine == "" {
		c.Machine = runner.MachineName()
	}
	if err := shoal.CheckID("--machine", string(c.Machine)); err != nil {
		return &shoal.Error{Kind: cli.KindUsage, Msg: err.Error(), Err: err}
	}
	state, err := stateDir()
	if err != nil {
		return err
	}
	if config.MaxMemory > 0 || config.MaxProcessMemory > 0 {
		if err := runner.CanMeasureMemory(); err != nil {
			sh.Output.Note("the limits of memory have no effect: %v", err)
		}
	}
	work, err := runner.New(runner.Options{
		State: filepath.Join(state, "conversations.json"), MaxProcesses: config.MaxProcesses, Idle: config.Idle, Environ: os.Environ(),
		MaxProcessMemory: config.MaxProcessMemory, MaxMemory: config.MaxMemory, Log: func(text string) { sh.Output.Note("%s", text) },
		Machine: c.Machine, Version: sh.Stamp.Build().Version,
	})
	if err != nil {
		return err
	}
	defer work.Stop()
	served := &serving{sh: sh, runner: work, keys: keys{sh: sh, dir: state, name: c.Name, spaces: c.Space}}
	for _, id := range slices.Sorted(maps.Keys(config.Agents)) {
		if err := served.add(ctx, id, config.Agents[id]); err != nil {
			return err
		}
	}
	if c.Install { // its agents have their keys now
		s, err := c.newService(sh)
		if err != nil {
			return err
		}
		return s.install(sh, runtime.GOOS)
	}
	return served.run(ctx)
}

// config returns the configuration: that of the flags for one agent, else that of the file.
func (c *Command) config() (runner.Config, error) {
	if c.Kind == "" {
		return c.readFile()
	}
	name, known := usual[c.Kind]
	if !known {
		return runner.Config{}, shoal.E("", cli.KindUsage, fmt.Sprintf("%q is not a kind of coding agent; the kinds are %s", c.Kind, strings.Join(runner.Kinds(), ", ")))
	}
	if c.Agent == "" {
		c.Agent = name.id
	}
	if c.Name == "" {
		c.Name = name.title
	}
	here, err := os.Getwd()
	if err != nil {
		return runner.Config{}, err
	}
	dir := kong.ExpandPath(c.Dir)
	if c.Dir == "" {
		if home, err := os.UserHomeDir(); err == nil && here == home {
			return runner.Config{}, shoal.E("", cli.KindUsage, "a coding agent would work in your whole home directory: name another one with --dir DIR")
		}
		dir = here
	}
	config := runner.Config{
		MaxProcesses: c.MaxProcesses, Idle: c.Idle, MaxProcessMemory: c.MaxProcessMemory, MaxMemory: c.MaxMemory,
		Agents: map[shoal.EntityID]runner.AgentConfig{c.Agent: {
			Kind: c.Kind, Dir: dir, Worktree: c.Worktree, Mode: c.Mode, Model: c.Model, Command: c.Program, Environ: c.Environ, RespondTo: c.RespondTo, Approve: c.Approve,
		}},
	}
	if err := config.Complete(here); err != nil {
		return config, &shoal.Error{Kind: cli.KindUsage, Msg: asFlag(err.Error(), c.Agent), Err: err}
	}
	return config, nil
}

// asFlag names the flag in an error about a field of the configuration.
func asFlag(text string, agent shoal.EntityID) string {
	field, ok := strings.CutPrefix(text, "agents."+string(agent)+".")
	if !ok {
		return text
	}
	return "--" + strings.NewReplacer("command:", "program:", "respondTo:", "respond-to:").Replace(field)
}

func (c *Command) readFile() (config runner.Config, err error) {
	path := c.File
	if path == "" {
		dir, err := cli.ConfigDir()
		if err != nil {
			return config, &shoal.Error{Kind: cli.KindUsage, Msg: "no home directory for the configuration; name the file with --file", Err: err}
		}
		path = filepath.Join(dir, "runner.yaml")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config, shoal.E("", cli.KindUsage, fmt.Sprintf("%s not found; run one agent with `shoal runner claude-code --dir DIR`, or write the file", path))
	}
	if err == nil {
		config, err = runner.ParseConfig(text, filepath.Dir(path))
	}
	if err != nil {
		return config, &shoal.Error{Kind: cli.KindUsage, Msg: fmt.Sprintf("%s: %v", path, err), Err: err}
	}
	return config, nil
}

// stateDir returns the directory for the keys and the conversations, and makes it.
func stateDir() (string, error) {
	dir, err := cli.StateDir()
	if err != nil {
		return "", &shoal.Error{Kind: cli.KindUsage, Msg: "no home directory for the keys of the agents: set HOME", Err: err}
	}
	dir = filepath.Join(dir, "runner")
	return dir, os.MkdirAll(dir, 0o700)
}
