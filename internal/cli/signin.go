package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/internal/login"
)

// signIn is what a command knows of the sign-ins of this user.
type signIn struct {
	read     bool
	accounts []login.Account
	current  string         // the URL of the current one
	unread   error          // why they cannot be read
	session  *login.Session // the one that the command acts with
	err      error
	keep     func(*login.Session) // starts to renew it in the background
}

// Logins returns the sign-ins of this user, which are beside the configuration file.
func Logins() (*login.Store, error) {
	dir, err := ConfigDir()
	if err != nil {
		return nil, err
	}
	return login.Open(dir), nil
}

// signIns reads the sign-ins of this user once. A file that cannot be read is an error of the commands
// that need a key.
func (sh *Shell) signIns() *signIn {
	s := &sh.signIn
	if s.read {
		return s
	}
	s.read = true
	store, err := Logins()
	if err != nil {
		return s // without a home directory nobody has signed in
	}
	accounts, current, err := store.All()
	if s.unread = err; err == nil {
		s.accounts, s.current = accounts, current
	}
	return s
}

// account returns the sign-in at the server that the command calls now, or nil.
func (sh *Shell) account() *login.Account {
	at, err := login.Origin(sh.URL)
	if err != nil {
		return nil // a URL with a path, say
	}
	s := sh.signIns()
	s.err = cmp.Or(s.err, s.unread)
	if i := slices.IndexFunc(s.accounts, func(a login.Account) bool { return a.URL == at }); i >= 0 {
		return &s.accounts[i]
	}
	return nil
}

// SignedIn returns the sign-in with which the command acts, nil if it acts with another key: a server gets no token
// of another one. It fails if the tokens cannot be read.
func (sh *Shell) SignedIn() (*login.Session, error) {
	if sh.Key != "" || sh.Admin {
		return nil, nil //nolint:nilnil // not to be signed in is usual
	}
	a := sh.account()
	switch {
	case a == nil || sh.signIn.err != nil:
		return nil, sh.signIn.err
	case sh.signIn.session != nil && sh.signIn.session.URL == a.URL:
		return sh.signIn.session, nil
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
	at := sh.signIn.session.URL
	return fmt.Sprintf("Your sign-in at %s does not count any more: it was ended, you were removed, or it was not used for 90 days.", at),
		fmt.Sprintf("sign in again with `shoal login %s`", at)
}
