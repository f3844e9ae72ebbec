// Package login keeps the sign-ins of this user to Shoal servers: who somebody is at which server, and the
// tokens that prove it.
//
//	s := login.Open(dir)
//	server, err := login.Discover(ctx, nil, "https://shoal.example")
//	attempt, err := server.Begin(ctx, "Command line", listener)
//	code, err := attempt.Await(ctx, listener) // or Ask, where no browser comes back
//	a, tokens, err := attempt.Finish(ctx, code)
//	a, err = s.Put(ctx, a, tokens)
//	…
//	session, err := s.Session(ctx, a, nil)
//	c, err := client.New(client.Options{URL: a.URL, Key: session.Key(), HTTP: session.Client(nil)})
//
// Guarantees:
//   - Tokens are in the keychain of the operating system, or in a file that only its owner can read.
//   - One process at a time changes the file, and a change replaces it as a whole. A sign-in to one server
//     leaves those to others as they are.
//   - A token is renewed before it ends, by one process at a time, and only where the new one can be kept.
//     A process that is interrupted finishes a renewal that it has begun.
//   - A code counts only with the state and the issuer that this process has asked with.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/filelock"
	"github.com/shoal-dev/shoal/internal/wholefile"
)

// Account is the sign-in of a person to a server. URL is the origin of the server, without a path.
type Account struct {
	URL      string          `json:"url"`
	Session  shoal.SessionID `json:"session"`
	Entity   shoal.EntityID  `json:"entity"`
	ClientID string          `json:"clientId"`
	// Keychain says that the tokens are in the keychain; else they are in the file.
	Keychain bool    `json:"keychain"`
	Tokens   *Tokens `json:"tokens,omitempty"`
}

// Tokens prove an account. Access works until Ends; Refresh gets the next ones, once.
type Tokens struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh"`
	Ends    time.Time `json:"ends"`
}

// contents are the contents of the file. Current is the URL of the server of commands that name none,
// empty if they use that of this machine.
type contents struct {
	Current  string    `json:"current"`
	Accounts []Account `json:"accounts"`
}

func (c *contents) find(url string) *Account {
	i := slices.IndexFunc(c.Accounts, func(a Account) bool { return a.URL == url })
	if i < 0 {
		return nil
	}
	return &c.Accounts[i]
}

// Store is the file with the accounts. Its methods are safe for concurrent use, also by several processes.
type Store struct {
	path string
	keys keychain
}

// Open returns the store in a directory, which need not exist.
func Open(dir string) *Store { return &Store{filepath.Join(dir, "logins.json"), system{}} }

// Path is that of the file.
func (s *Store) Path() string { return s.path }

// lockPatience is how long a change waits for the one of another process.
const lockPatience = 15 * time.Second

func (s *Store) read() (c contents, err error) {
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && json.Unmarshal(text, &c) != nil {
		err = shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%s is not what `shoal login` writes: delete it and sign in again", s.path))
	}
	return c, err
}

// change replaces the file by what do makes of it. It fails if the file cannot be written, before
// do is called.
func (s *Store) change(ctx context.Context, do func(c *contents) error) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return s.unwritable(err)
	}
	lock, err := s.lock(ctx)
	if err != nil {
		return s.unwritable(err)
	}
	defer func() { _ = lock.Close() }() // nothing was written into it
	c, err := s.read()
	if err != nil {
		return err
	}
	if err := do(&c); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = wholefile.Replace(s.path, append(text, '\n'))
	}
	return err
}

func (s *Store) lock(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, errors.New("another `shoal` holds it"))
	defer cancel()
	for {
		lock, err := filelock.Try(s.path + ".lock")
		if lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Store) unwritable(err error) error {
	return &shoal.Error{Kind: shoal.Forbidden, Err: err, Msg: fmt.Sprintf("the sign-in cannot be kept: %s cannot be written (%v). Sign in where your home directory can be written, or set XDG_CONFIG_HOME", s.path, err)}
}

// Check returns the error with which Put would fail because the file cannot be written.
func (s *Store) Check(ctx context.Context) error {
	return s.change(ctx, func(*contents) error { return nil })
}

// Put stores an account with its tokens, in place of the one at the same server, and makes it the current one.
// The tokens go into the keychain if a.Keychain is set and there is one that answers.
func (s *Store) Put(ctx context.Context, a Account, t Tokens) (kept Account, err error) {
	err = s.change(ctx, func(c *contents) error {
		if old := c.find(a.URL); old != nil && old.Keychain && !a.Keychain {
			_ = s.keys.remove(ctx, a.URL) // what is left there is of no use
		}
		a.keep(ctx, s.keys, t)
		if old := c.find(a.URL); old != nil {
			*old = a
		} else {
			c.Accounts = append(c.Accounts, a)
		}
		c.Current = a.URL
		return nil
	})
	return a, err
}

// keep puts tokens where the account has them. A keychain that does not take them is not used.
func (a *Account) keep(ctx context.Context, k keychain, t Tokens) {
	a.Tokens = nil
	if a.Keychain {
		text, err := json.Marshal(t)
		a.Keychain = err == nil && k.put(ctx, a.URL, string(text)) == nil
	}
	if !a.Keychain {
		a.Tokens = &t
	}
}

// Tokens returns the tokens of an account as they are stored. It fails with Unauthenticated if the keychain does not
// give them.
func (s *Store) Tokens(ctx context.Context, a Account) (t Tokens, err error) {
	if a.Tokens != nil {
		return *a.Tokens, nil
	}
	text, err := s.keys.get(ctx, a.URL)
	if err == nil {
		err = json.Unmarshal([]byte(text), &t)
	}
	if err != nil {
		err = &shoal.Error{Kind: shoal.Unauthenticated, Err: err, Msg: fmt.Sprintf("the sign-in at %s is in the keychain, which does not give it (%v): unlock it, or sign in again with `shoal login %s --in-file`", a.URL, err, a.URL)}
	}
	return t, err
}

// All returns the accounts, in the order in which they were first made, and the URL of the current one, empty without
// one.
func (s *Store) All() (all []Account, current string, err error) {
	c, err := s.read()
	return c.Accounts, c.Current, err
}

// Find returns the account at a server, and whether there is one.
func (s *Store) Find(url string) (a Account, found bool, err error) {
	c, err := s.read()
	if kept := c.find(url); kept != nil {
		return *kept, true, err
	}
	return a, false, err
}

// Use makes the account at a server the current one, or none if url is empty. It fails with NotFound.
func (s *Store) Use(ctx context.Context, url string) error {
	return s.change(ctx, func(c *contents) error {
		if url != "" && c.find(url) == nil {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("you are not signed in at %s: `shoal login %s`", url, url))
		}
		c.Current = url
		return nil
	})
}

// Remove forgets the account at a server and returns its tokens, which are empty if the keychain does not
// give them. It fails with NotFound.
func (s *Store) Remove(ctx context.Context, url string) (a Account, t Tokens, err error) {
	err = s.change(ctx, func(c *contents) error {
		kept := c.find(url)
		if kept == nil {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("you are not signed in at %s", url))
		}
		a = *kept
		t, _ = s.Tokens(ctx, a) // it is forgotten all the same
		if a.Keychain {
			_ = s.keys.remove(ctx, url) // a locked one keeps what is revoked anyway
		}
		c.Accounts = slices.DeleteFunc(c.Accounts, func(other Account) bool { return other.URL == url })
		if c.Current == url {
			c.Current = ""
		}
		return nil
	})
	return a, t, err
}
