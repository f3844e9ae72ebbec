package background

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// pidFile names the process that startProcess started, before it announces itself.
const pidFile = "server.pid"

// startProcess starts a process that outlives this one and has no terminal.
func (s Service) startProcess(d Definition) error {
	log, err := os.OpenFile(s.LogPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.Command(d.Program, s.arguments()...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.Data, log, log, detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	if err := os.WriteFile(filepath.Join(s.Data, pidFile), []byte(pid+"\n"), 0o600); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	return cmd.Process.Release()
}

// stopProcess asks the process to end.
func (s Service) stopProcess() error {
	r, alive, err := s.Running()
	if err != nil || !alive {
		return err // its id may be another program's by now
	}
	if r.PID == 0 {
		return errors.New("the server is starting or ending; try again in a moment")
	}
	if err := terminate(r.PID); err != nil {
		return fmt.Errorf("process %d: %w", r.PID, err)
	}
	return removeIfThere(filepath.Join(s.Data, pidFile))
}

// endedProcess reports whether the process is gone, or another server is in its place.
func (s Service) endedProcess() (bool, error) {
	text, err := os.ReadFile(filepath.Join(s.Data, pidFile))
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return true, nil //nolint:nilerr // a file that holds no id names no process
	}
	return !isAlive(pid), nil
}
