package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/harness"
)

// Limits and defaults of a configuration.
const (
	maxAgents           = 64
	maxConfig           = 256 << 10
	maxProcesses        = 32
	DefaultMaxProcesses = 4
	DefaultIdle         = 10 * time.Minute
	minIdle             = time.Second
)

// Config is the configuration of a runner. It is the only place that says what coding agents may
// do on this machine.
type Config struct {
	Agents       map[shoal.EntityID]AgentConfig `yaml:"agents"`
	MaxProcesses int                            `yaml:"maxProcesses"`
	Idle         time.Duration                  `yaml:"idle"`
	// MaxProcessMemory is how much resident memory an idle program may use, with what it has started,
	// and MaxMemory how much all together may. 0 means no limit.
	MaxProcessMemory Memory `yaml:"maxProcessMemory"`
	MaxMemory        Memory `yaml:"maxMemory"`
}

// AgentConfig is the configuration of one agent.
type AgentConfig struct {
	Kind string `yaml:"kind"`
	Dir  string `yaml:"dir"`
	// Worktree gives each conversation a working tree of its own, beside the repository that Dir
	// is in.
	Worktree bool         `yaml:"worktree"`
	Mode     harness.Mode `yaml:"mode"`
	Model    string       `yaml:"model"`
	Command  []string     `yaml:"command"`
	Environ  []string     `yaml:"environ"`
	// RespondTo lists the senders whose mentions make it work: entity ids, and "owner" or
	// "members" in their place.
	RespondTo []string `yaml:"respondTo"`
	// Approve lists, in the same way, whose approvals count. A server lets every person of a space
	// approve; what is executed here is for the owner to decide.
	Approve []string `yaml:"approve"`
	Budget  Budget   `yaml:"budget"`
}

// Words of RespondTo and Approve.
const (
	RespondToOwner   = "owner"
	RespondToMembers = "members"
)

// ParseConfig decodes a configuration, completes it and checks it. Directories that are not
// absolute are relative to dir.
func ParseConfig(text []byte, dir string) (Config, error) {
	var c Config
	if len(text) > maxConfig {
		return c, fmt.Errorf("the configuration has %d bytes; at most %d are accepted", len(text), maxConfig)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, err
	}
	return c, c.Complete(dir)
}

// Complete sets what is not set, and checks everything.
func (c *Config) Complete(dir string) error {
	if c.MaxProcesses == 0 {
		c.MaxProcesses = DefaultMaxProcesses
	}
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	switch {
	case len(c.Agents) == 0:
		return errors.New("agents: name at least one")
	case len(c.Agents) > maxAgents:
		return fmt.Errorf("agents: %d are too many; a runner has at most %d", len(c.Agents), maxAgents)
	case c.MaxProcesses < 1 || c.MaxProcesses > maxProcesses:
		return fmt.Errorf("maxProcesses: must be from 1 to %d", maxProcesses)
	case c.Idle < minIdle:
		return fmt.Errorf("idle: must be at least %s, such as 10m", minIdle)
	case c.MaxProcessMemory > 0 && c.MaxProcessMemory < minMemory:
		return fmt.Errorf("maxProcessMemory: must be at least %s, or 0 for no limit", Memory(minMemory))
	case c.MaxMemory > 0 && c.MaxMemory < max(c.MaxProcessMemory, minMemory):
		return fmt.Errorf("maxMemory: must be at least %s, as much as one program may use, or 0 for no limit", max(c.MaxProcessMemory, minMemory))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[id]
		if shoal.CheckID("", string(id)) != nil {
			return fmt.Errorf("agents: %q is not an id: use letters, digits and the characters _ . -", id)
		}
		if err := a.complete(dir); err != nil {
			return fmt.Errorf("agents.%s.%w", id, err)
		}
		c.Agents[id] = a
	}
	return nil
}

func (a *AgentConfig) complete(dir string) error {
	if a.Mode == "" {
		a.Mode = harness.ModeAsk
	}
	if a.Budget.MaxTurnsPerHour == 0 {
		a.Budget.MaxTurnsPerHour = DefaultMaxTurnsPerHour
	}
	if len(a.RespondTo) == 0 {
		a.RespondTo = []string{RespondToOwner}
	}
	if len(a.Approve) == 0 {
		a.Approve = []string{RespondToOwner}
	}
	k, known := kinds[a.Kind]
	switch {
	case !known:
		return fmt.Errorf("kind: %q is not one of %s", a.Kind, strings.Join(Kinds(), ", "))
	case len(a.Command) == 0 && k.command == nil:
		return fmt.Errorf("command: the kind %s needs the command that starts the agent, such as [my-agent, --acp]", a.Kind)
	case !slices.Contains([]harness.Mode{harness.ModeRead, harness.ModeAsk, harness.ModeEdit}, a.Mode):
		return fmt.Errorf("mode: %q is not one of read, ask, edit", a.Mode)
	}
	if b := a.Budget; b.MaxTurnsPerHour < 0 || b.MaxTokensPerDay < 0 || b.MaxCostPerDay < 0 {
		return errors.New("budget: must not be negative")
	}
	for _, name := range a.Environ {
		if name == "" || name == "*" || strings.ContainsAny(name, "= ") {
			return fmt.Errorf("environ: %q is not the name of a variable", name)
		}
	}
	for _, list := range []struct {
		field string
		ids   []string
	}{{"respondTo", a.RespondTo}, {"approve", a.Approve}} {
		for _, id := range list.ids {
			if shoal.CheckID("", id) != nil {
				return fmt.Errorf("%s: %q is not owner, members or an id", list.field, id)
			}
		}
	}
	return a.completeDir(dir)
}

// completeDir makes the directory absolute. A coding agent never works in a home directory or in
// the root by accident: one has to be named.
func (a *AgentConfig) completeDir(dir string) error {
	if a.Dir == "" {
		return errors.New("dir: name the directory in which the agent works")
	}
	if rest, ok := strings.CutPrefix(a.Dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("dir: %w", err)
		}
		a.Dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(a.Dir) {
		a.Dir = filepath.Join(dir, a.Dir)
	}
	found, err := os.Stat(a.Dir)
	if err != nil || !found.IsDir() {
		return fmt.Errorf("dir: %s is not a directory", a.Dir)
	}
	return nil
}

// Find reports whether the program of the agent is on this machine.
func (a *AgentConfig) Find() error {
	k, name := kinds[a.Kind], ""
	if command := append(slices.Clone(a.Command), k.command...); len(command) > 0 {
		name = command[0]
	}
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("program %s not found on this machine: install %s, or name its program", name, k.title)
	}
	return nil
}

// CheckWorktree reports whether the agent can have working trees, if it is to have them.
func (a *AgentConfig) CheckWorktree(ctx context.Context) error {
	if !a.Worktree {
		return nil
	}
	_, _, err := repository(ctx, a.Dir)
	return err
}

// Responds reports whether the mention of a sender makes the agent work.
func (a *AgentConfig) Responds(sender shoal.EntityID, owner *shoal.EntityID) bool {
	return lists(a.RespondTo, sender, owner)
}

// Approves reports whether the approval of a person counts.
func (a *AgentConfig) Approves(person shoal.EntityID, owner *shoal.EntityID) bool {
	return lists(a.Approve, person, owner)
}

// lists reports whether a list of ids, owner and members contains an entity.
func lists(all []string, who shoal.EntityID, owner *shoal.EntityID) bool {
	return slices.ContainsFunc(all, func(id string) bool {
		switch id {
		case RespondToMembers:
			return true
		case RespondToOwner:
			return owner != nil && *owner == who
		}
		return id == string(who)
	})
}
