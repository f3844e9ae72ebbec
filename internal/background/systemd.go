package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Detect returns the service manager that this user has, and Process otherwise.
func Detect(ctx context.Context) Manager {
	switch runtime.GOOS {
	case "linux":
		if _, err := systemctl(ctx, "show", "--property=Version"); err == nil {
			return Systemd
		}
	case "darwin":
		if exec.CommandContext(ctx, "launchctl", "print", launchdDomain()).Run() == nil {
			return Launchd
		}
	}
	return Process
}

// name is what the service is called, different for each data directory.
func (s Service) name() string {
	sum := sha256.Sum256([]byte(s.Data))
	return "shoal-" + hex.EncodeToString(sum[:4])
}

func systemctl(ctx context.Context, args ...string) (string, error) {
	return output(ctx, "systemctl", append([]string{"--user"}, args...)...)
}

// output runs a command and returns what it prints; the error says what it complains of.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// systemdUnit is the unit of a server. A configuration that cannot work (2) and an
// address or database that is in use (5) are not tried again.
func (s Service) systemdUnit(d Definition) string {
	return `# Written by "shoal up", removed by "shoal down".
[Unit]
Description=Shoal, data in ` + strings.ReplaceAll(s.Data, "%", "%%") + `
After=network.target

[Service]
ExecStart=` + systemdCommand(d.Program, s.arguments()...) + `
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=2 5
KillSignal=SIGTERM
TimeoutStopSec=15
LimitNOFILE=65536:524288
UMask=0077
StandardOutput=append:` + strings.ReplaceAll(s.LogPath(), "%", "%%") + `
StandardError=inherit

[Install]
WantedBy=default.target
`
}

// systemdCommand quotes a command for a line of a unit. In the name of the program no
// variable is expanded.
func systemdCommand(program string, args ...string) string {
	plain := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%")
	line := `"` + plain.Replace(program) + `"`
	for _, arg := range args {
		line += ` "` + strings.ReplaceAll(plain.Replace(arg), "$", "$$") + `"`
	}
	return line
}

// unitPath is where the user's units are.
func (s Service) unitPath() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", s.name()+".service"), nil
}

func (s Service) startSystemd(ctx context.Context, d Definition) error {
	path, err := s.unitPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(s.systemdUnit(d)), 0o600); err != nil {
		return err
	}
	if _, err := systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	// One that failed before may be refused otherwise; one that is new cannot be reset.
	_, _ = systemctl(ctx, "reset-failed", s.name()+".service")
	if _, err := systemctl(ctx, "enable", s.name()+".service"); err != nil {
		return err
	}
	_, err = systemctl(ctx, "restart", s.name()+".service") // starts one that does not run
	return err
}

func (s Service) stopSystemd(ctx context.Context) error {
	path, err := s.unitPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return s.stopProcess() // somebody has removed the unit
	}
	if _, err := systemctl(ctx, "disable", "--now", s.name()+".service"); err != nil {
		return err
	}
	if err := removeIfThere(path); err != nil {
		return err
	}
	_, err = systemctl(ctx, "daemon-reload")
	return err
}

func (s Service) endedSystemd(ctx context.Context) (bool, error) {
	state, err := systemctl(ctx, "show", "--property=ActiveState", "--value", s.name()+".service")
	if err != nil {
		return false, err
	}
	switch strings.TrimSpace(state) {
	case "failed", "inactive":
		return true, nil
	}
	return false, nil
}
