// Package background runs the server of a data directory in the background: as a
// service of the user's service manager (systemd, launchd), or as a process of its own.
//
//	s := background.Service{Data: dir}
//	err := s.Start(ctx, background.Definition{Manager: background.Detect(ctx), Program: self, Args: args})
//	if err != nil { … }
//	running, err := s.AwaitReady(ctx)
//	…
//	err = s.Stop(ctx)
//
// A server describes itself in its data directory, with [Announce], as long as it runs;
// [Service.Running] finds it there, however it was started. A lock proves that it is alive.
package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Manager is what keeps a server running in the background.
type Manager string

// The managers. The empty one means that somebody started the server without this
// package.
const (
	Systemd Manager = "systemd"
	Launchd Manager = "launchd"
	Process Manager = "process"
)

// Files in the data directory.
const (
	// LogFile receives what a server in the background logs.
	LogFile = "server.log"

	definitionFile = "service.json"
	recordFile     = "server.json"
	aliveFile      = "server.lock"
	commandFile    = "service.lock"
)

// largestLog is the length after which a start moves the log aside.
const largestLog = 16 << 20

// often is how long to wait between two checks of a process or a file.
const often = 50 * time.Millisecond

// Service is the server of one data directory.
type Service struct {
	// Data is the absolute path of the directory.
	Data string
}

// LogPath returns the path of the log.
func (s Service) LogPath() string { return filepath.Join(s.Data, LogFile) }

// Start stores the definition and starts the server with it. It does not wait until the
// server is ready: see [Service.AwaitReady].
func (s Service) Start(ctx context.Context, d Definition) error {
	if err := s.rotateLog(); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(s.Data, definitionFile), d); err != nil {
		return err
	}
	return s.start(ctx, d)
}

// Restart stops the server if it runs, and starts it with the stored definition. systemd
// does both for itself, so that it is done even if this process ends.
func (s Service) Restart(ctx context.Context) error {
	d, defined, err := s.Definition()
	switch {
	case err != nil:
		return err
	case !defined:
		return fmt.Errorf("%s not found in %s", definitionFile, s.Data)
	}
	if d.Manager != Systemd {
		if err := s.Halt(ctx); err != nil {
			return err
		}
	}
	return s.Start(ctx, d)
}

func (s Service) start(ctx context.Context, d Definition) error {
	switch d.Manager {
	case Systemd:
		return s.startSystemd(ctx, d)
	case Launchd:
		return s.startLaunchd(ctx, d)
	}
	return s.startProcess(d)
}

// Halt ends the server that Start started, waits until it has ended, and keeps the
// definition, so that Restart can start it again.
func (s Service) Halt(ctx context.Context) error {
	d, defined, err := s.Definition()
	if err != nil || !defined {
		return err
	}
	switch d.Manager {
	case Systemd:
		err = s.stopSystemd(ctx)
	case Launchd:
		err = s.stopLaunchd(ctx)
	default:
		err = s.stopProcess()
	}
	return errors.Join(err, s.awaitEnd(ctx))
}

// Stop is Halt, and forgets the definition: the server does not start again by itself.
func (s Service) Stop(ctx context.Context) error {
	if err := s.Halt(ctx); err != nil {
		return err
	}
	return removeIfThere(filepath.Join(s.Data, definitionFile))
}

// awaitEnd waits until no server of the data directory is alive.
func (s Service) awaitEnd(ctx context.Context) error {
	for {
		record, alive, err := s.Running()
		if err != nil || !alive {
			return err
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("process %d has not ended: %w", record.PID, err)
		}
	}
}

// pause waits for the next check.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(often):
		return nil
	}
}

// rotateLog keeps one older log, so that what a server logs stays bounded.
func (s Service) rotateLog() error {
	info, err := os.Stat(s.LogPath())
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() <= largestLog {
		return nil
	}
	return errors.Join(err, os.Rename(s.LogPath(), s.LogPath()+".1"))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
