package connect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Machine is what decides where clients keep their files.
type Machine struct {
	Home   string              // the user's home directory
	Config string              // where programs keep the user's settings, such as ~/.config
	Dir    string              // the project
	Getenv func(string) string // the environment
	Find   func(program string) (path string, err error)
}

// Here is the machine that this process runs on, with dir as the project.
func Here(dir string) (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, &shoal.Error{Kind: shoal.InvalidArgument, Msg: "home directory not found: set HOME", Err: err}
	}
	config, err := os.UserConfigDir()
	if err != nil {
		config = filepath.Join(home, ".config")
	}
	return Machine{Home: home, Config: config, Dir: dir, Getenv: os.Getenv, Find: exec.LookPath}, nil
}

// File returns the file of a scope in which a client looks for MCP servers.
// Whether it is there is another matter.
func (m Machine) File(c *Client, scope Scope) string {
	if scope == Project {
		return filepath.Join(m.Dir, map[string]string{
			"claude-code": ".mcp.json",
			"codex":       ".codex/config.toml",
			"cursor":      ".cursor/mcp.json",
			"vscode":      ".vscode/mcp.json",
			"gemini-cli":  ".gemini/settings.json",
		}[c.ID])
	}
	switch c.ID {
	case "claude-code":
		return filepath.Join(m.or("CLAUDE_CONFIG_DIR", m.Home), ".claude.json")
	case "codex":
		return filepath.Join(m.or("CODEX_HOME", filepath.Join(m.Home, ".codex")), "config.toml")
	case "cursor":
		return filepath.Join(m.Home, ".cursor", "mcp.json")
	case "vscode":
		return filepath.Join(m.Config, "Code", "User", "mcp.json")
	default:
		return filepath.Join(m.or("GEMINI_CLI_HOME", m.Home), ".gemini", "settings.json")
	}
}

func (m Machine) or(variable, fallback string) string {
	if dir := m.Getenv(variable); dir != "" {
		return dir
	}
	return fallback
}

// Installed says how the client is known to be on the machine: the path of its
// program, or that of what it keeps there. It is [shoal.NotFound] if neither is
// there, and says how to get it.
func (m Machine) Installed(c *Client) (string, error) {
	for _, program := range c.programs {
		if path, err := m.Find(program); err == nil {
			return path, nil
		}
	}
	file := m.File(c, User)
	kept := []string{file}
	if dir := filepath.Dir(file); dir != m.Home {
		kept = append(kept, dir)
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", shoal.E("", shoal.NotFound, fmt.Sprintf(
		"%s not found on this machine: neither %s on PATH nor %s; %s",
		c.Name, strings.Join(c.programs, " or "), kept[len(kept)-1], c.Install))
}

// Shared reports whether a file lies in a work tree of git, from where it would
// travel with what it holds.
func Shared(file string) bool {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
