package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/certificate"
)

// Globals are the flags of all commands.
type Globals struct {
	URL     string          `help:"The URL of the server." default:"http://127.0.0.1:7462" placeholder:"URL"`
	Key     string          `help:"The API key. Without one, a server on this machine gets the operator key of the data directory." placeholder:"KEY"`
	Data    string          `help:"The data directory (default: shoal in $XDG_DATA_HOME or ~/.local/share)." placeholder:"DIR"`
	Config  string          `help:"The configuration file (default: shoal/config.yaml in $XDG_CONFIG_HOME or ~/.config)." placeholder:"FILE"`
	Session shoal.SessionID `help:"The session." default:"default" placeholder:"ID"`
	As      *shoal.EntityID `help:"Act as this entity; requires --admin or an admin key (default: operator)." placeholder:"ID"`
	Admin   bool            `help:"Use the admin key of the data directory, for other sessions and the whole server." env:"-"`
	JSON    bool            `help:"Print JSON, one object per line, and no notes." name:"json"`
	JQ      string          `help:"Print what this jq program makes of the JSON, such as '.items[].id'." name:"jq" placeholder:"PROGRAM" env:"-"`
	Quiet   bool            `help:"Print ids only (keys create: the secret only), and no notes." short:"q"`
}

// Shell is what a command runs with: its flags, its input and output, and its way to a server.
type Shell struct {
	*Globals
	Command string // the words of the command
	In      io.Reader
	Output  *Output
	// SessionChosen reports whether --session or SHOAL_SESSION is set.
	SessionChosen bool
	Sources       *Sources
	local         background.Record // the server of the data directory, if it runs
	signIn        signIn
	Stamp         Stamp
	Grammar       Grammar
}

// DataDir returns the data directory: that of --data, or the default.
func (g *Globals) DataDir() (string, error) {
	if g.Data != "" {
		return kong.ExpandPath(g.Data), nil
	}
	dir, err := userDir("XDG_DATA_HOME", ".local", "share")
	if err != nil {
		err = &shoal.Error{Kind: KindUsage, Msg: "no home directory for the data; choose a directory with --data", Err: err}
	}
	return dir, err
}

// Secret returns the API key, and whether it is of the data directory: the key of --key, else that of
// the sign-in at the server, else the operator key, or with --admin the admin key. Keys of the data directory
// never leave the machine: for a server on another one the key is one of the first two, or empty.
func (sh *Shell) Secret() (key string, local bool, err error) {
	if sh.Key != "" {
		if sh.Admin {
			return "", false, shoal.E("", KindUsage, "--admin uses the admin key of the data directory: remove it, or remove --key and SHOAL_KEY")
		}
		return sh.Key, false, nil
	}
	if s, err := sh.SignedIn(); s != nil || err != nil {
		if err != nil {
			return "", false, err
		}
		return s.Key(), false, nil
	}
	return sh.ownKey()
}

// ownKey returns the key of the data directory for a server on this machine.
func (g *Globals) ownKey() (key string, local bool, err error) {
	at, err := url.Parse(g.URL)
	if err != nil || !app.Loopback(at.Hostname()) {
		if g.Admin {
			return "", false, shoal.E("", KindUsage, "--admin uses the admin key of the data directory, which is never sent to another machine: pass an admin key with --key")
		}
		return "", false, nil
	}
	dir, err := g.DataDir()
	if err != nil {
		return "", false, err
	}
	if g.Admin {
		key, err = app.ReadAdminKey(dir)
	} else if err = g.checkActor(); err == nil {
		key, err = app.ReadOperatorKey(dir)
	}
	if errors.Is(err, shoal.NotFound) {
		return "", true, nil // the server says what is missing, and may be down anyway
	}
	return key, true, err
}

// checkActor refuses entities that the operator's key cannot act as.
func (g *Globals) checkActor() error {
	if g.As == nil || *g.As == shoal.Operator {
		return nil
	}
	return shoal.E("", KindUsage, fmt.Sprintf("--as %q requires --admin: without it, the command line only has the operator key", *g.As))
}

// findServer looks for the server of a command whose --url is not set: that of the current sign-in, else that of
// the data directory if it speaks TLS. --admin is about the latter.
func (sh *Shell) findServer(chosen *kong.Context) {
	byDefault := func(name string) bool {
		return slices.ContainsFunc(chosen.Flags(), func(flag *kong.Flag) bool { return flag.Name == name && sh.Sources.originOf(chosen, flag) == "default" })
	}
	unnamed := byDefault("url")
	sh.findOwnServer(unnamed)
	if sh.Admin {
		return
	}
	if unnamed {
		sh.URL = cmp.Or(sh.signIns().current, sh.URL)
	}
	if a := sh.account(); a != nil && sh.Key == "" && a.Session != "" && byDefault("session") {
		sh.Session = a.Session
	}
}

// findOwnServer looks for the server of the data directory, which becomes that of the command if it
// speaks TLS and no other is named.
func (sh *Shell) findOwnServer(unnamed bool) {
	dir, err := sh.DataDir()
	if err != nil {
		return // a command that needs the directory says so
	}
	r, alive, err := background.Service{Data: dir}.Running()
	if err != nil || !alive || r.Certificate == "" {
		return // the directory may be another user's
	}
	if sh.local = r; unnamed {
		sh.URL = r.URL
	}
}

// Options returns how a client reaches the server with a key. It makes no more attempts than it has to. The
// server of the data directory is recognised by its local certificate. The key of the sign-in is
// renewed before it ends.
func (sh *Shell) Options(key string) client.Options {
	o := sh.Reach(sh.URL)
	o.Key = key
	if s, err := sh.SignedIn(); err == nil && s != nil {
		o.HTTP = s.Client(o.HTTP)
	}
	return o
}

// Reach is Options for a server at any URL, without a key.
func (sh *Shell) Reach(url string) client.Options {
	o := client.Options{URL: url, RetryFor: -1}
	if sh.local.Certificate != "" && sameOnThisMachine(url, sh.local.URL) {
		o.HTTP = certificate.LocalClient(sh.local.Certificate)
	}
	return o
}

// sameOnThisMachine reports whether two URLs are of one server on this machine.
func sameOnThisMachine(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil {
		return false
	}
	other, err := url.Parse(b)
	return err == nil && one.Scheme == other.Scheme && one.Port() == other.Port() && app.Loopback(one.Hostname()) && app.Loopback(other.Hostname())
}

// missingKey returns what to say about a call that was refused because the command had no key. It
// is empty if the command had one.
func (sh *Shell) missingKey() string {
	key, local, err := sh.Secret()
	if err != nil || key != "" {
		return ""
	}
	if !local {
		return fmt.Sprintf("No key was given for the server at %s.", sh.URL)
	}
	name := app.OperatorKeyFile
	if sh.Admin {
		name = app.KeyFile
	}
	dir, err := sh.DataDir()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("No key was given, and %s not found in %s.", name, dir)
}

// Client returns a client that acts as the entity of its key, if the key has one.
func (sh *Shell) Client() (*client.Client, error) {
	key, _, err := sh.Secret()
	if err != nil {
		return nil, err
	}
	return client.New(sh.Options(key))
}

// Actor returns the entity that the command acts as: that of --as, else that of the key, else
// the operator for admins in the default session. It is empty if the command acts as none.
func (sh *Shell) Actor(ctx context.Context) (shoal.EntityID, error) {
	key, local, err := sh.Secret()
	if err != nil {
		return "", err
	}
	if sh.As != nil {
		return *sh.As, nil
	}
	if key == "" && !local {
		return "", nil
	}
	role := shoal.RoleAdmin // the role of the admin key
	if !local {
		c, err := sh.Client()
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
		return "", nil // only the default session has the operator
	}
	return shoal.Operator, nil
}

// isOperator reports whether the command uses the operator key of the data directory, which is
// valid for the default session only.
func (sh *Shell) isOperator() bool {
	key, local, err := sh.Secret()
	return err == nil && local && key != "" && !sh.Admin
}

// Connect returns the session, and the entity that the command acts as in it.
func (sh *Shell) Connect(ctx context.Context) (*client.Session, shoal.EntityID, error) {
	as, err := sh.Actor(ctx)
	if err != nil {
		return nil, "", err
	}
	key, _, err := sh.Secret()
	if err != nil {
		return nil, "", err
	}
	o := sh.Options(key)
	o.As = as
	c, err := client.New(o)
	if err != nil {
		return nil, "", err
	}
	return c.Session(sh.Session), as, nil
}

// ConnectAsManager returns the session for commands that manage it. It acts as the entity of
// the key, if the key has one, or of --as; an admin or a service key acts as no entity.
func (sh *Shell) ConnectAsManager() (*client.Session, error) {
	key, _, err := sh.Secret()
	if err != nil {
		return nil, err
	}
	o := sh.Options(key)
	if sh.As != nil {
		o.As = *sh.As
	}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	return c.Session(sh.Session), nil
}
