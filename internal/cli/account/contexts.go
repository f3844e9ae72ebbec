package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/login"
)

// LogoutCommand is shoal logout.
type LogoutCommand struct {
	Server string `arg:"" optional:"" name:"url" help:"The address of the server (default: that of --url, or the current one)."`
	All    bool   `help:"Sign out at every server."`
}

// Run revokes the tokens and forgets them. What cannot be revoked is forgotten, too, and reported.
func (c *LogoutCommand) Run(ctx context.Context, sh *cli.Shell) error {
	store, err := cli.Logins()
	if err != nil {
		return err
	}
	var servers []string
	if c.All {
		all, _, err := store.All()
		if err != nil {
			return err
		}
		for _, a := range all {
			servers = append(servers, a.URL)
		}
		if len(all) == 0 {
			sh.Output.Note("you are signed in nowhere")
		}
	} else {
		at, err := login.Origin(cmp.Or(c.Server, sh.URL))
		if err != nil {
			return err
		}
		servers = []string{at}
	}
	var failed []error
	for _, at := range servers {
		failed = append(failed, logout(ctx, sh, store, at))
	}
	return errors.Join(failed...)
}

func logout(ctx context.Context, sh *cli.Shell, store *login.Store, at string) error {
	a, tokens, err := store.Remove(ctx, at)
	if err != nil {
		return err
	}
	if err := login.Revoke(ctx, sh.Reach(at).HTTP, a, tokens); err != nil {
		return &shoal.Error{Kind: shoal.KindOf(err), Err: err, Msg: fmt.Sprintf("signed out of %s here, but not there (%s): `shoal sign-ins` with another key shows the sign-in, and `shoal sign-ins end` ends it", at, cli.ErrorText(err))}
	}
	sh.Output.Note("signed out of %s", at)
	return nil
}

// ContextsCommand is shoal contexts.
type ContextsCommand struct {
	List contextsListCmd `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the servers where you are signed in."`
	Use  contextsUseCmd  `cmd:"" help:"Choose the server of commands that name none."`
}

type contextsListCmd struct{}

// listed is a row of the list.
type listed struct {
	URL     string          `json:"url"`
	Entity  shoal.EntityID  `json:"entityId"`
	Session shoal.SessionID `json:"sessionId"`
	Current bool            `json:"current"`
	KeptIn  string          `json:"keptIn"`
}

// Run lists the sign-ins.
func (*contextsListCmd) Run(sh *cli.Shell) error {
	store, err := cli.Logins()
	if err != nil {
		return err
	}
	accounts, current, err := store.All()
	if err != nil {
		return err
	}
	all := cli.List[listed]{Items: []listed{}}
	var rows [][]string
	for _, a := range accounts {
		l := listed{a.URL, a.Entity, a.Session, a.URL == current, "file"}
		if a.Keychain {
			l.KeptIn = "keychain"
		}
		all.Items = append(all.Items, l)
		mark := ""
		if l.Current {
			mark = "current"
		}
		rows = append(rows, []string{l.URL, string(l.Entity), string(l.Session), l.KeptIn, mark})
	}
	return sh.Output.PrintTable(all, []string{"SERVER", "YOU", "SESSION", "KEPT IN", ""}, rows...)
}

type contextsUseCmd struct {
	Server string `arg:"" name:"url" help:"The address of a server where you are signed in, or none for the server of this machine."`
}

// Run changes the current server.
func (c *contextsUseCmd) Run(ctx context.Context, sh *cli.Shell) error {
	store, err := cli.Logins()
	if err != nil {
		return err
	}
	at := ""
	if c.Server != "none" {
		if at, err = login.Origin(c.Server); err != nil {
			return err
		}
	}
	if err := store.Use(ctx, at); err != nil {
		return err
	}
	sh.Output.Note("commands use %s from now on", cmp.Or(at, "the server of this machine"))
	return nil
}

// WhoamiCommand is shoal whoami.
type WhoamiCommand struct{}

// identity is what whoami prints: who the server says that the caller is, and where the key is from.
type identity struct {
	shoal.Caller
	URL string `json:"url"`
	Key string `json:"keyFrom"`
}

// Run prints as whom commands act, at which server, and with which key.
func (*WhoamiCommand) Run(ctx context.Context, sh *cli.Shell) error {
	c, err := sh.Client()
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	who, session := string(me.Role), "all"
	if me.EntityID != nil {
		who = string(*me.EntityID)
	}
	if me.SessionID != nil {
		session = string(*me.SessionID)
	}
	from, err := keyFrom(sh)
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(identity{me, sh.URL, from}, []string{"SERVER", "YOU", "SESSION", "WITH"}, []string{sh.URL, who, session, from})
}

// keyFrom names the place in the order of precedence from which the key is.
func keyFrom(sh *cli.Shell) (string, error) {
	s, err := sh.SignedIn()
	switch {
	case err != nil:
		return "", err
	case sh.Key != "":
		return "--key or SHOAL_KEY", nil
	case s != nil:
		return "shoal login", nil
	case sh.Admin:
		return "the admin key of the data directory", nil
	}
	return "the operator key of the data directory", nil
}
