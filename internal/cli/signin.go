package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/shoal-dev/shoal/internal/login"
)

// signIn is what a command knows of the sign-ins of this user.
type signIn struct {
	read    bool
	found   *login.Account // at the server of the command
	session *login.Session // of found, once it is used
	err     error
	keep    func(*login.Session) // starts to renew it in the background
}

// Logins returns the sign-ins of this user, which are beside the configuration file.
func Logins() (*login.Store, error) {
	dir, err := ConfigDir()
	if err != nil {
		return nil, err
	}
	return login.Open(dir), nil
}

// currentServer returns the URL of the current sign-in, empty if there is none. A file that cannot be read is
// an error of the commands that need a key.
func (sh *Shell) currentServer() string {
	store, err := Logins()
	if err != nil {
		return ""
	}
	_, current, err := store.All()
	if err != nil {
		return ""
	}
	return current
}

// account returns the sign-in at the server of the command, nil if there is none or it cannot be read.
func (sh *Shell) account() *login.Account {
	if sh.signIn.read {
		return sh.signIn.found
	}
	sh.signIn.read = true
	at, err := login.Origin(sh.URL)
	if err != nil {
		return nil // a URL with a path, say
	}
	store, err := Logins()
	if err != nil {
		return nil // without a home directory nobody has signed in
	}
	a, found, err := store.Find(at)
	if sh.signIn.err = err; found {
		sh.signIn.found = &a
	}
	return sh.signIn.found
}

// SignedIn returns the sign-in with which the command acts, nil if it acts with another key. It fails if the tokens
// cannot be read.
func (sh *Shell) SignedIn() (*login.Session, error) {
	if sh.Key != "" || sh.Admin {
		return nil, nil //nolint:nilnil // not to be signed in is usual
	}
	a := sh.account()
	if a == nil || sh.signIn.session != nil || sh.signIn.err != nil {
		return sh.signIn.session, sh.signIn.err
	}
	store, err := Logins()
	if err == nil {
		sh.signIn.session, err = store.Session(context.Background(), *a, sh.Reach(a.URL).HTTP)
	}
	if sh.signIn.err = err; err != nil {
		return nil, err
	}
	if sh.signIn.keep != nil {
		sh.signIn.keep(sh.signIn.session)
	}
	return sh.signIn.session, nil
}

// keepSignIn has the sign-in renewed before it ends until stop is called, which waits for a renewal that has begun.
func (sh *Shell) keepSignIn(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	sh.signIn.keep = func(s *login.Session) { renewing.Go(func() { s.Keep(ctx) }) }
	return func() {
		cancel()
		renewing.Wait()
	}
}

// endedSignIn returns what to say about a call that was refused although the command is signed in, and
// what to do. Both are empty if it is not.
func (sh *Shell) endedSignIn() (message, hint string) {
	if sh.signIn.session == nil || sh.Key != "" || sh.Admin {
		return "", ""
	}
	at := sh.signIn.found.URL
	return fmt.Sprintf("Your sign-in at %s does not count any more: it was ended, you were removed, or it was not used for 90 days.", at),
		fmt.Sprintf("sign in again with `shoal login %s`", at)
}
