package login

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// keychain keeps a text for a server.
type keychain interface {
	put(ctx context.Context, url, text string) error
	get(ctx context.Context, url string) (string, error)
	remove(ctx context.Context, url string) error
}

// system is the keychain of the operating system: Keychain on macOS, the Credential Manager on Windows, the Secret
// Service elsewhere.
type system struct{}

const (
	service = "shoal"
	// keychainPatience is how long it may take, with the person who unlocks it.
	keychainPatience = 30 * time.Second
)

var errNoKeychain = errors.New("this machine has no keychain that can be asked")

// reachable reports whether the keychain can be asked. Without a session bus, the library would start one; and a
// keychain that is locked asks on a display.
func reachable() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return os.Getenv("SSH_CONNECTION") == ""
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return false
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return err == nil
}

func (system) put(ctx context.Context, url, text string) error {
	_, err := asked(ctx, func() (string, error) { return "", keyring.Set(service, url, text) })
	return err
}

func (system) get(ctx context.Context, url string) (string, error) {
	return asked(ctx, func() (string, error) { return keyring.Get(service, url) })
}

func (system) remove(ctx context.Context, url string) error {
	_, err := asked(ctx, func() (string, error) { return "", keyring.Delete(service, url) })
	return err
}

// asked asks the keychain, which can wait for a person for ever: then the process ends without its answer.
func asked(ctx context.Context, do func() (string, error)) (string, error) {
	if !reachable() {
		return "", errNoKeychain
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keychainPatience, errors.New("it does not answer"))
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := do()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
