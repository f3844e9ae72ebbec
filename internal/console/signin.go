package console

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Link makes a link that opens the console once within ten minutes and signs in
// as an admin. at is the origin of the server, such as http://127.0.0.1:7462.
// Where nobody has to sign in, it is the plain address and works always.
func (c *Console) Link(at string) shoal.ConsoleLink {
	if c.Open {
		return shoal.ConsoleLink{URL: at + "/"}
	}
	text, until := c.codes.add()
	expires := shoal.At(until)
	return shoal.ConsoleLink{URL: at + "/#login=" + text, ExpiresAt: &expires}
}

// credentials are what somebody signs in with: the code of a link, or a key.
type credentials struct {
	Code string `json:"code"`
	Key  string `json:"key"`
}

// decode reads the JSON of a body, which must not have other fields than v.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// login signs a browser in.
func (c *Console) login(w http.ResponseWriter, r *http.Request) (int, any, error) {
	const op = "console.login"
	var in credentials
	if err := decode(guard.Body(r), &in); err != nil || (in.Code == "") == (in.Key == "") {
		return 0, nil, &shoal.Error{
			Op: op, Kind: shoal.InvalidArgument, Err: err,
			Msg:    `Send {"code": CODE} with the code of a link, or {"key": KEY}.`,
			Fields: []shoal.FieldError{{Location: "body", Message: `must be {"code": CODE} or {"key": KEY}`}},
		}
	}
	caller, half, err := c.signIn(w, r, in)
	if err != nil {
		return 0, nil, err
	}
	c.Log.Info("somebody has signed in to the console", "key", caller.KeyID, "role", caller.Role)
	return http.StatusOK, signedIn{scopes.Describe(caller), half}, nil
}

// signedIn is the response to a sign-in: the principal, and the half of the sign-in that
// is not in the cookie. The page stores it and sends it with each call in
// X-Shoal-Sign-In.
type signedIn struct {
	shoal.Caller
	SignIn string `json:"signIn"`
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request, in credentials) (caller shoal.Principal, half string, err error) {
	if in.Key != "" {
		return c.Auth.SignIn(w, r, in.Key)
	}
	if !c.codes.take(in.Code) {
		return caller, "", shoal.E("console.login", shoal.Unauthenticated,
			"This link does not work any more: each one opens the console once, within ten minutes. Get a new one with \"shoal console --admin\" on the server's machine.")
	}
	return c.Auth.SignInAdmin(w, r)
}

// joined is the response to an accepted invitation: that of a sign-in, and the person's key, which
// is in this response only.
type joined struct {
	signedIn
	Key string `json:"key"`
}

// join accepts an invitation and signs the browser in.
func (c *Console) join(w http.ResponseWriter, r *http.Request) (int, any, error) {
	const op = "console.join"
	var in shoal.Joining
	if err := decode(guard.Body(r), &in); err != nil {
		return 0, nil, &shoal.Error{
			Op: op, Kind: shoal.InvalidArgument, Err: err, Msg: `Send {"code": CODE, "name": NAME} with the code of an invitation.`,
			Fields: []shoal.FieldError{{Location: "body", Message: `must be {"code": CODE, "name": NAME}`}},
		}
	}
	made, err := c.Auth.Join(w, r, in)
	if err != nil {
		return 0, nil, err
	}
	c.Log.Info("a person has accepted an invitation", "invite", made.Invite.ID, "session", made.Invite.SessionID, "entity", made.Who.EntityID, "key", made.Who.KeyID)
	return http.StatusCreated, joined{signedIn{scopes.Describe(made.Who), made.PageHalf}, made.Key}, nil
}

// logout signs a browser out, or with {"everywhere": true} all that have signed in with
// the same key, or by link as this one has, or as the same person of an identity provider.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var in struct {
		Everywhere bool `json:"everywhere"`
	}
	if text := guard.Body(r); len(text) > 0 {
		if err := decode(text, &in); err != nil {
			return 0, nil, &shoal.Error{
				Op: "console.logout", Kind: shoal.InvalidArgument, Err: err, Msg: `Send no body, or {"everywhere": true}.`,
				Fields: []shoal.FieldError{{Location: "body", Message: `must be {"everywhere": true} if there is one`}},
			}
		}
	}
	next := ""
	if logoutToken := c.Auth.LogoutToken(r); logoutToken != "" && c.Logout != nil {
		next = c.Logout(r.Context(), logoutToken, c.Guard.Origin(r))
	}
	end := c.Auth.SignOut
	if in.Everywhere {
		end = c.Auth.SignOutEverywhere
	}
	if err := end(w, r); err != nil || next == "" {
		return http.StatusNoContent, nil, err
	}
	return http.StatusOK, signedOut{next}, nil
}

// signedOut is the response to a sign-out after which the page goes to an address where the person
// signs out of the identity provider as well.
type signedOut struct {
	URL string `json:"url"`
}

// makeLink makes a link for an admin.
func (c *Console) makeLink(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	caller, err := c.Auth.Principal(r)
	if err != nil {
		return 0, nil, err
	}
	if !caller.Admin() {
		return 0, nil, shoal.E("console.makeLink", shoal.Forbidden, "A link signs in as an admin, so only an admin makes one. Sign in with your own key instead.")
	}
	return http.StatusCreated, c.Link(c.Guard.Origin(r)), nil
}
