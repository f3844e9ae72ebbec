package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
)

// Invite creates an invitation whose URL is in this result only, with the code in its fragment,
// which browsers send to nobody. origin is the server's, as the person reaches it. Repeated under
// the same idempotency key, the call returns the same invitation without its URL.
func (a *Authenticator) Invite(ctx context.Context, caller shoal.Principal, session shoal.SessionID, origin string, n shoal.NewInvite, idempotencyKey string) (shoal.Invite, error) {
	code := randomText()
	made, replayed, err := a.hub.Invites.Create(ctx, caller, session, n, Hash(code), idempotencyKey)
	if err == nil && !replayed {
		url := origin + "/join#invite=" + code
		made.URL = &url
	}
	return made, err
}

// Origin returns the origin under which a browser reaches the server when it calls it as this
// request does.
func (a *Authenticator) Origin(r *http.Request) string {
	if a.guard == nil {
		return "http://" + r.Host
	}
	return a.guard.Origin(r)
}

// Joined is a person who has accepted an invitation.
type Joined struct {
	Who    shoal.Principal
	Invite shoal.Invite
	// Key is the person's key, for another browser or for when this one has signed out. It is
	// returned only here.
	Key string
	// PageHalf is the half of the sign-in that the page keeps, as in [Authenticator.SignIn].
	PageHalf string
}

// Join accepts the invitation with a code: it creates the person with a key, and signs the browser
// of the request in with it, as SignIn does.
func (a *Authenticator) Join(w http.ResponseWriter, r *http.Request, j shoal.Joining) (out Joined, err error) {
	if err := j.Validate(); err != nil {
		return out, err
	}
	out.Key = NewSecret()
	var key shoal.Key
	out.Invite, key, err = a.hub.Invites.Accept(a.signingIn(w, r), Hash(j.Code), j.Name, Hash(out.Key))
	if err != nil {
		a.count(err)
		return Joined{}, a.refuse(r, err)
	}
	_, out.PageHalf, err = a.signIn(w, r, key, signInPrefix+randomText()+"."+Hash(out.Key), "", shoal.At(time.Now().Add(signedIn)))
	out.Who = principal(recognised{Key: key})
	return out, err
}
