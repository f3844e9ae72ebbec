package main

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// globals are the flags that every command has.
type globals struct {
	URL     string          `help:"Where the server is." default:"http://127.0.0.1:7462" placeholder:"URL"`
	Key     string          `help:"The key that proves who calls. Without one, a server on this machine gets the admin key of the data directory." placeholder:"KEY"`
	Data    string          `help:"The data directory (default: shoal in $XDG_DATA_HOME or ~/.local/share)." placeholder:"DIR"`
	Config  string          `help:"The configuration file (default: shoal/config.yaml in $XDG_CONFIG_HOME or ~/.config)." placeholder:"FILE"`
	Session shoal.SessionID `help:"The session." default:"default" placeholder:"ID"`
	As      *shoal.EntityID `help:"Act as this entity (default: operator, with an admin key in the session default)." placeholder:"ID"`
	JSON    bool            `help:"Print JSON, one object in a line, and no notes." name:"json"`
	Quiet   bool            `help:"Print ids only (keys create: the secret only), and no notes." short:"q"`
}

// shell is what every command stands on.
type shell struct {
	*globals
	command string // which one it is
	in      io.Reader
	output  *output
	// sessionGiven says that the session is not just the default.
	sessionGiven bool
	sources      *sources
}

// dataDir returns the data directory.
func (g *globals) dataDir() (string, error) {
	if g.Data != "" {
		return kong.ExpandPath(g.Data), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shoal"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", &shoal.Error{Kind: kindUsage, Msg: "there is no home directory to keep data in; name another place with --data", Err: err}
	}
	return filepath.Join(home, ".local", "share", "shoal"), nil
}

// secret returns the key to call with, and whether it is the data directory's
// admin key. That one never goes to another machine.
func (g *globals) secret() (key string, local bool, err error) {
	if g.Key != "" {
		return g.Key, false, nil
	}
	at, err := url.Parse(g.URL)
	if err != nil || !app.Loopback(at.Hostname()) {
		return "", false, nil
	}
	dir, err := g.dataDir()
	if err != nil {
		return "", false, err
	}
	key, err = app.ReadAdminKey(dir)
	if errors.Is(err, shoal.NotFound) {
		return "", true, nil // a server without --auth asks for none
	}
	return key, true, err
}

// admin returns a client that acts as nobody.
func (sh *shell) admin() (*client.Client, error) {
	key, _, err := sh.secret()
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: sh.URL, Key: key})
}

// actor returns whom the command acts as: the entity of --as, else the key's
// own, else the operator for an admin. It is empty for who acts as nobody.
func (sh *shell) actor(ctx context.Context) (shoal.EntityID, error) {
	if sh.As != nil {
		return *sh.As, nil
	}
	key, local, err := sh.secret()
	if err != nil || key == "" && !local {
		return "", err
	}
	role := shoal.RoleAdmin // that of the data directory's key
	if !local {
		c, err := sh.admin()
		if err != nil {
			return "", err
		}
		me, err := c.Me(ctx)
		if err != nil {
			return "", err
		}
		if role = me.Role; me.EntityID != nil {
			return *me.EntityID, nil
		}
	}
	if role != shoal.RoleAdmin || sh.Session != shoal.DefaultSession {
		return "", nil // the operator is an entity of the default session only
	}
	return shoal.Operator, nil
}

// connect returns the session, and whom the command acts as in it.
func (sh *shell) connect(ctx context.Context) (*client.Session, shoal.EntityID, error) {
	as, err := sh.actor(ctx)
	if err != nil {
		return nil, "", err
	}
	key, _, err := sh.secret()
	if err != nil {
		return nil, "", err
	}
	c, err := client.New(client.Options{URL: sh.URL, Key: key, As: as})
	if err != nil {
		return nil, "", err
	}
	return c.Session(sh.Session), as, nil
}

// overlook returns the session as somebody who looks after all of it: an admin or
// a service acts as nobody, unless --as names an entity.
func (sh *shell) overlook() (*client.Session, error) {
	key, _, err := sh.secret()
	if err != nil {
		return nil, err
	}
	o := client.Options{URL: sh.URL, Key: key}
	if sh.As != nil {
		o.As = *sh.As
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return c.Session(sh.Session), nil
}
