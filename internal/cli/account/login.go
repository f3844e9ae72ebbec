// Package account has the commands about who somebody is at which server: login, logout, contexts, whoami.
package account

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/login"
)

// LoginCommand is shoal login.
type LoginCommand struct {
	Server    string        `arg:"" optional:"" name:"url" help:"The address of the server, such as https://shoal.example.com (default: that of --url)."`
	NoBrowser bool          `help:"Open no browser: print a link, and take the code that its page shows."`
	InFile    bool          `help:"Keep the tokens in a file that only you can read, also where there is a keychain."`
	Timeout   time.Duration `help:"Give up after this time." default:"10m" placeholder:"TIME"`
}

// signedIn is what login prints.
type signedIn struct {
	URL     string          `json:"url"`
	Entity  shoal.EntityID  `json:"entityId"`
	Session shoal.SessionID `json:"sessionId"`
}

// Run signs in, in place of the sign-in at the same server.
func (c *LoginCommand) Run(ctx context.Context, sh *cli.Shell) error {
	at, err := login.Origin(cmp.Or(c.Server, sh.URL))
	if err != nil {
		return err
	}
	store, err := cli.Logins()
	if err != nil {
		return err
	}
	// What cannot be kept is not asked for.
	if err := store.Check(ctx); err != nil {
		return err
	}
	h := sh.Reach(at).HTTP
	server, err := login.Discover(ctx, h, at)
	if err != nil {
		return err
	}
	attempt, code, err := c.ask(ctx, sh, server)
	if err != nil {
		return err
	}
	a, tokens, err := attempt.Finish(ctx, code)
	if err != nil {
		return err
	}
	before, again, err := store.Find(at)
	if err != nil {
		return err
	}
	old := login.Tokens{}
	if again {
		old, _ = store.Tokens(ctx, before) // what the keychain does not give is not revoked
	}
	a.Keychain = !c.InFile
	if a, err = store.Put(ctx, a, tokens); err != nil {
		_ = login.Revoke(ctx, h, a, tokens) // nobody has it then
		return err
	}
	if old.Refresh != "" {
		_ = login.Revoke(ctx, h, before, old) // it ends by itself
	}
	sh.Output.Note("commands use %s from now on; `shoal contexts` lists all", at)
	if !a.Keychain {
		sh.Output.Note("the tokens are in %s, which only you can read", store.Path())
	}
	return sh.Output.PrintTable(signedIn{a.URL, a.Entity, a.Session}, []string{"SERVER", "YOU", "SESSION"}, []string{a.URL, string(a.Entity), string(a.Session)})
}

// ask has the person decide in a browser of this machine, or in any other one.
func (c *LoginCommand) ask(ctx context.Context, sh *cli.Shell, server *login.Server) (*login.Attempt, string, error) {
	if !c.NoBrowser && cli.OpensBrowsers() {
		back, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		attempt, err := server.Begin(ctx, programName(), back)
		if err == nil {
			if err := cli.Browse(ctx, attempt.URL); err == nil {
				say(sh, "Allow it in the browser that opens. If none does, press Ctrl-C and start again with --no-browser.\n  %s\n", attempt.URL)
				ctx, cancel := c.within(ctx)
				defer cancel()
				code, err := attempt.Await(ctx, back)
				return attempt, code, err
			}
		}
		_ = back.Close() // nobody has connected
		if err != nil {
			return nil, "", err
		}
	}
	attempt, err := server.Begin(ctx, programName(), nil)
	if err != nil {
		return nil, "", err
	}
	say(sh, "Open this address in a browser, on any machine, and paste the code that it shows:\n  %s\n", attempt.URL)
	ctx, cancel := c.within(ctx)
	defer cancel()
	code, err := attempt.Ask(ctx, sh.In, func(format string, args ...any) { say(sh, format, args...) })
	return attempt, code, err
}

// within returns the context of the time that the person has.
func (c *LoginCommand) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Timeout, shoal.E("", cli.KindTimedOut, "nobody has allowed it in the browser in time"))
}

// say writes to the person who signs in, whatever the form of the output.
func say(sh *cli.Shell, format string, args ...any) {
	_, _ = fmt.Fprintf(sh.Output.Notes, format, args...) // without a reader nobody signs in
}

// programName is how the page and the list of sign-ins call this program.
func programName() string {
	if host, err := os.Hostname(); err == nil && host != "" {
		return "Command line on " + host
	}
	return "Command line"
}
