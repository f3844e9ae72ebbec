package runner

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/runner"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// service is the runner as a service of the user, which the system starts at login and again after
// a failure.
type service struct {
	name    string   // of the service: shoal-runner, or with the agent of the flags
	command []string // with the path of the program
	dir     string
	environ []string // NAME=value; never a key
	home    string
	config  string // the directory of the user's configuration files
}

// newService describes the runner that the flags say.
func (c *Command) newService(sh *cli.Shell) (s service, err error) {
	program, err := os.Executable()
	if err != nil {
		return s, err
	}
	if s.dir, err = os.Getwd(); err != nil {
		return s, err
	}
	if s.home, err = os.UserHomeDir(); err != nil {
		return s, &shoal.Error{Kind: cli.KindUsage, Msg: "no home directory for the service: set HOME", Err: err}
	}
	s.config = os.Getenv("XDG_CONFIG_HOME")
	if s.config == "" {
		s.config = filepath.Join(s.home, ".config")
	}
	s.name = "shoal-runner"
	if c.Kind != "" {
		s.name += "-" + string(c.Agent)
	}
	s.command = append([]string{program, "runner", "--url", sh.URL, "--session", string(sh.Session)}, c.arguments()...)
	for _, name := range []string{"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if value := os.Getenv(name); value != "" {
			s.environ = append(s.environ, name+"="+value)
		}
	}
	return s, nil
}

// arguments are the flags of the command as they were given, without those of the installation.
func (c *Command) arguments() (out []string) {
	if c.Kind == "" {
		if c.File != "" {
			out = append(out, "--file", c.File)
		}
		return out
	}
	out = append(out, c.Kind, "--agent", string(c.Agent), "--mode", string(c.Mode), "--idle", c.Idle.String(), "--max-processes", fmt.Sprint(c.MaxProcesses))
	for _, one := range []struct{ flag, value string }{{"--dir", c.Dir}, {"--model", c.Model}} {
		if one.value != "" {
			out = append(out, one.flag, one.value)
		}
	}
	for _, one := range []struct {
		flag  string
		value runner.Memory
	}{{"--max-process-memory", c.MaxProcessMemory}, {"--max-memory", c.MaxMemory}} {
		if one.value > 0 {
			out = append(out, one.flag, one.value.String())
		}
	}
	if c.Worktree {
		out = append(out, "--worktree")
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"--program", c.Program}, {"--environ", c.Environ}, {"--respond-to", c.RespondTo}, {"--approve", c.Approve}} {
		for _, value := range list.values {
			out = append(out, list.flag+"="+value)
		}
	}
	return out
}

// path is where the system looks for the service.
func (s service) path(system string) (string, error) {
	switch system {
	case "linux":
		return filepath.Join(s.config, "systemd", "user", s.name+".service"), nil
	case "darwin":
		return filepath.Join(s.home, "Library", "LaunchAgents", s.label()+".plist"), nil
	}
	return "", shoal.E("", cli.KindUsage, "a runner is installed as a service of systemd or launchd only; here, start `shoal runner` by what starts your other programs")
}

// label is the name of the service for launchd.
func (s service) label() string { return "dev.shoal." + strings.TrimPrefix(s.name, "shoal-") }

// text is the file that describes the service.
func (s service) text(system string) ([]byte, error) {
	if system == "darwin" {
		return s.plist()
	}
	return s.unit(), nil
}

// unit describes the service for systemd. Only the runner gets the signal to stop: it ends its
// programs itself.
func (s service) unit() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[Unit]\nDescription=Coding agents that Shoal wakes (%s)\nAfter=network-online.target\n\n[Service]\nExecStart=", s.name)
	for i, word := range s.command {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quoted(strings.ReplaceAll(word, "$", "$$")))
	}
	fmt.Fprintf(&b, "\nWorkingDirectory=%s\n", strings.ReplaceAll(s.dir, "%", "%%"))
	for _, pair := range s.environ {
		fmt.Fprintf(&b, "Environment=%s\n", quoted(pair))
	}
	fmt.Fprintf(&b, "EnvironmentFile=-%s\n", strings.ReplaceAll(filepath.Join(s.config, "shoal", "runner.env"), "%", "%%"))
	b.WriteString("KillMode=mixed\nTimeoutStopSec=30\nRestart=on-failure\nRestartSec=5\n\n[Install]\nWantedBy=default.target\n")
	return b.Bytes()
}

// quoted is a word in a unit of systemd.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}

// plist describes the service for launchd.
func (s service) plist() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n<plist version=\"1.0\">\n<dict>\n")
	var failed error
	element := func(indent, name, text string) {
		b.WriteString(indent + "<" + name + ">")
		failed = errors.Join(failed, xml.EscapeText(&b, []byte(text)))
		b.WriteString("</" + name + ">\n")
	}
	element("  ", "key", "Label")
	element("  ", "string", s.label())
	element("  ", "key", "ProgramArguments")
	b.WriteString("  <array>\n")
	for _, word := range s.command {
		element("    ", "string", word)
	}
	b.WriteString("  </array>\n")
	element("  ", "key", "WorkingDirectory")
	element("  ", "string", s.dir)
	element("  ", "key", "EnvironmentVariables")
	b.WriteString("  <dict>\n")
	for _, pair := range s.environ {
		name, value, _ := strings.Cut(pair, "=")
		element("    ", "key", name)
		element("    ", "string", value)
	}
	b.WriteString("  </dict>\n")
	element("  ", "key", "RunAtLoad")
	b.WriteString("  <true/>\n")
	element("  ", "key", "KeepAlive")
	b.WriteString("  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n")
	for _, out := range []string{"StandardOutPath", "StandardErrorPath"} {
		element("  ", "key", out)
		element("  ", "string", filepath.Join(s.home, "Library", "Logs", s.name+".log"))
	}
	b.WriteString("</dict>\n</plist>\n")
	return b.Bytes(), failed
}

// install writes the file of the service, and says how it is started.
func (s service) install(sh *cli.Shell, system string) error {
	path, err := s.path(system)
	if err != nil {
		return err
	}
	text, err := s.text(system)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := wholefile.Replace(path, text); err != nil {
		return err
	}
	sh.Output.Note("wrote %s", path)
	if system == "darwin" {
		sh.Output.Note("start it with `launchctl bootstrap gui/$(id -u) %s`; it starts by itself at the next login", path)
		return nil
	}
	sh.Output.Note("start it with `systemctl --user daemon-reload && systemctl --user enable --now %s`", s.name)
	sh.Output.Note("it runs while you are logged in, and always after `loginctl enable-linger`; `journalctl --user -u %s` shows what it prints", s.name)
	return nil
}

// uninstall removes the file of the service.
func (s service) uninstall(sh *cli.Shell, system string) error {
	path, err := s.path(system)
	if err != nil {
		return err
	}
	switch err := os.Remove(path); {
	case errors.Is(err, fs.ErrNotExist):
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%s not found: repeat the kind and --agent with which it was installed", path))
	case err != nil:
		return err
	}
	sh.Output.Note("removed %s", path)
	if system == "darwin" {
		sh.Output.Note("if it still runs, end it with `launchctl bootout gui/$(id -u)/%s`", s.label())
	} else {
		sh.Output.Note("if it still runs, end it with `systemctl --user disable --now %s`", s.name)
	}
	return nil
}
