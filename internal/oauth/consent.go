package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/naming"
)

// asked is the query of a request, as the page has it from its own address. Login says that it is the page
// on which people sign programs in as themselves.
type asked struct {
	Query string `json:"query"`
	Login bool   `json:"login"`
}

// description is what the page shows of a request. URL is set if the browser has to go back with an
// error instead. Host is where the browser continues, and Local says that it is a program on its machine.
type description struct {
	Client  string   `json:"client"`
	Host    string   `json:"host"`
	Local   bool     `json:"local"`
	Agent   string   `json:"agent"`
	Scopes  []string `json:"scopes"`
	BackURL string   `json:"url"`
	// Document is the host of the document that describes the client, empty for one that has registered:
	// nobody else has written what the client says of itself.
	Document string `json:"document"`
	// Person is as whom the program would act, empty for one that acts as an agent.
	Person shoal.EntityID `json:"person"`
}

// decision is what the person has decided. Name is that of a new agent.
type decision struct {
	asked
	Approve bool            `json:"approve"`
	Session shoal.SessionID `json:"session"`
	Agent   shoal.EntityID  `json:"agent"`
	Name    string          `json:"name"`
	Spaces  []shoal.SpaceID `json:"spaces"`
	Scopes  []string        `json:"scopes"`
}

// decided is the answer to a decision: where the browser goes.
type decided struct {
	URL string `json:"url"`
}

// ofPage serves a call of the console's page, which takes a signed-in person.
func (s *Server) ofPage(do func(w http.ResponseWriter, r *http.Request, caller shoal.Principal) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.Auth.Person(r)
		var body any
		if err == nil {
			body, err = do(w, r, caller)
		}
		if err != nil {
			s.Auth.Refuse(r, guard.RequestID(w), caller, "POST "+r.URL.Path, err)
			guard.LogInternal(s.Log, r, guard.RequestID(w), err)
			guard.WriteProblem(w, err)
			return
		}
		write(w, http.StatusOK, body)
	}
}

// describe says what a client asks for.
func (s *Server) describe(w http.ResponseWriter, r *http.Request, caller shoal.Principal) (any, error) {
	var in asked
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	q, err := s.parse(s.issuer(r), in.Query, s.findFor(s.Auth.Context(r.Context(), r, guard.RequestID(w), caller), caller))
	var wrong *failure
	if errors.As(err, &wrong) {
		return description{BackURL: q.back(s.issuer(r), "error", wrong.Code, "error_description", wrong.About)}, nil
	}
	if err != nil {
		return nil, err
	}
	if q.isLogin() != in.Login {
		return description{BackURL: q.ownPage(s.issuer(r), in.Query)}, nil
	}
	u, err := url.Parse(q.redirectURI)
	if err != nil {
		return nil, err
	}
	d := description{
		Client: q.client.Name, Host: placeOf(u), Local: onThisMachine(u) || ofApp(u), Agent: naming.Handle(q.client.Name),
		Scopes: append([]string{}, q.scopes...), Document: documentHost(q.client.ID),
	}
	if in.Login {
		d.Person = caller.EntityID
		d.Local = q.redirectURI != s.issuer(r)+codePage // the server may be on this machine, too
	}
	return d, nil
}

// decide carries out what the person has decided, and returns where the browser goes.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, caller shoal.Principal) (any, error) {
	var in decision
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	ctx := s.Auth.Context(r.Context(), r, guard.RequestID(w), caller)
	q, err := s.parse(s.issuer(r), in.Query, s.findFor(ctx, caller))
	if err != nil {
		var wrong *failure
		if errors.As(err, &wrong) {
			err = invalid(wrong.About)
		}
		return nil, err
	}
	if !in.Approve {
		if err := s.Grants.Deny(ctx, caller, in.Session, q.client.ID); err != nil {
			return nil, err
		}
		return decided{q.back(s.issuer(r), "error", "access_denied", "error_description", "The person did not consent.")}, nil
	}
	code := auth.NewToken("")
	c := access.Consent{ClientID: q.client.ID, RedirectURI: q.redirectURI, Challenge: q.challenge, Resource: q.resource, CodeHash: auth.Hash(code)}
	switch {
	case q.isLogin() != in.Login: // a page has shown the person something else than this
		err = invalid("This page does not decide about such a request. Start again in the program.")
	case in.Login:
		_, err = s.Grants.GiveLogin(ctx, caller, in.Session, c)
	default:
		if err = q.within(in.Scopes); err == nil {
			c.Agent, c.Name, c.Spaces, c.Scopes = in.Agent, in.Name, in.Spaces, in.Scopes
			_, err = s.Grants.Give(ctx, caller, in.Session, c)
		}
	}
	if err != nil {
		return nil, err
	}
	return decided{q.back(s.issuer(r), "code", code)}, nil
}

// within checks that a person gives a client none of the words that it did not ask for. A client that
// asked for none gets what the person chooses.
func (q *request) within(given []string) error {
	if len(q.scopes) == 0 {
		return nil
	}
	some := false
	for _, word := range given {
		if !slices.Contains(scopeWords, word) {
			continue
		}
		if some = true; !slices.Contains(q.scopes, word) {
			return shoal.Invalid("scopes", fmt.Sprintf("must not contain %q, which the program did not ask for", word))
		}
	}
	if !some {
		return shoal.Invalid("scopes", "must contain at least one that the program asked for")
	}
	return nil
}

func decode(r *http.Request, v any) error {
	d := json.NewDecoder(bytes.NewReader(guard.Body(r)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &shoal.Error{Op: "oauth.decode", Kind: shoal.InvalidArgument, Err: err, Msg: "The body is not what the consent page sends: " + err.Error() + "."}
	}
	return nil
}
