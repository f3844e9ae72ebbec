package background

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/shoal-dev/shoal/internal/filelock"
)

// Record is how a running server describes itself in its data directory.
type Record struct {
	PID int `json:"pid"`
	// URL is where the server answers on this machine; empty while it starts.
	URL string `json:"url"`
	// Certificate is what programs on this machine recognise the server by if it speaks TLS, see
	// [certificate.LocalClient]; empty for plain HTTP.
	Certificate string `json:"certificate,omitempty"`
	Version     string `json:"version"`
	// Manager is what keeps it running; empty if somebody started it otherwise.
	Manager Manager `json:"manager"`
	// Database is sqlite or postgres.
	Database string `json:"database"`
}

// Announcement is the record of the calling process. The zero value announces nothing.
type Announcement struct {
	data string
	lock *os.File
}

// announceWithin is how long Announce tries, since commands that check whether a server
// is alive take its lock for an instant.
const announceWithin = time.Second

// Announce writes the record of this process. If another process has announced itself
// there, it writes nothing and reports false: the other one's record stays.
func Announce(ctx context.Context, data string, r Record) (a *Announcement, announced bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, announceWithin)
	defer cancel()
	lock, err := filelock.Try(filepath.Join(data, aliveFile))
	for ; lock == nil && err == nil && pause(ctx) == nil; lock, err = filelock.Try(filepath.Join(data, aliveFile)) {
	}
	if err != nil || lock == nil {
		return new(Announcement), false, err
	}
	a = &Announcement{data: data, lock: lock}
	if err := a.Update(r); err != nil {
		a.End()
		return new(Announcement), false, err
	}
	return a, true, nil
}

// Update replaces the record.
func (a *Announcement) Update(r Record) error {
	if a.lock == nil {
		return nil
	}
	return writeJSON(filepath.Join(a.data, recordFile), r)
}

// End removes the record.
func (a *Announcement) End() {
	if a.lock == nil {
		return
	}
	_ = os.Remove(filepath.Join(a.data, recordFile)) // without the lock it says nothing
	_ = a.lock.Close()                               // nothing was written to it
	a.lock = nil
}

// Running returns the record of the server that is alive on the data directory, and
// whether there is one.
func (s Service) Running() (r Record, alive bool, err error) {
	alive, err = filelock.Held(filepath.Join(s.Data, aliveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil // there is no such directory
	}
	if err != nil || !alive {
		return r, false, err
	}
	err = readJSON(filepath.Join(s.Data, recordFile), &r)
	if errors.Is(err, fs.ErrNotExist) { // it has just begun, or is about to end
		return r, true, nil
	}
	return r, true, err
}

// ErrEnded says that a server ended before it was ready.
var ErrEnded = errors.New("the server ended before it was ready")

// AwaitReady waits until the server is ready, which ready says about its
// record, and returns its record. It fails with [ErrEnded] if the server ends first.
func (s Service) AwaitReady(ctx context.Context, ready func(ctx context.Context, r Record) error) (Record, error) {
	var last error
	for wasAlive := false; ; {
		r, alive, err := s.Running()
		if err != nil {
			return r, err
		}
		if alive && r.URL != "" {
			if last = ready(ctx, r); last == nil {
				return r, nil
			}
		}
		if !alive {
			ended, err := s.ended(ctx, wasAlive)
			if err != nil || ended {
				return r, errors.Join(err, ErrEnded)
			}
		}
		wasAlive = alive
		if err := pause(ctx); err != nil {
			return r, fmt.Errorf("%w; the last check said: %w", err, errors.Join(last))
		}
	}
}

// ended reports whether a server that is not alive will not come up any more. One that
// this package has not started is expected until it has been alive.
func (s Service) ended(ctx context.Context, wasAlive bool) (bool, error) {
	d, defined, err := s.Definition()
	if err != nil || !defined {
		return wasAlive, err
	}
	switch d.Manager {
	case Systemd:
		return s.endedSystemd(ctx)
	case Launchd:
		return s.endedLaunchd(ctx)
	}
	return s.endedProcess()
}
