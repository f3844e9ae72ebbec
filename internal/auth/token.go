package auth

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

// tokenPrefix begins the access tokens of OAuth clients: the secrets of keys that work at the doors of
// MCP only, because they were issued for that resource.
const tokenPrefix = "shoal-mcp_"

// NewLoginToken returns an access token that no other program has, with which a program acts as the person
// who has signed it in. It works at every door. It is stored as [Hash] says.
func NewLoginToken() string { return "shoal-login_" + randomText() }

// NewAccessToken returns an access token that no other client has. It is stored as [Hash] says.
func NewAccessToken() string { return tokenPrefix + randomText() }

// NewToken returns a secret with 256 random bits that is not a key and begins with a prefix.
func NewToken(prefix string) string { return prefix + randomText() }

// Person recognises the browser of a request by its sign-in, and nothing else: it is for what a person
// has to decide. It fails with Unauthenticated if nobody is signed in, and with Forbidden if the request
// does not come from a page of the server.
func (a *Authenticator) Person(r *http.Request) (shoal.Principal, error) {
	secret, kept := a.cookie(r)
	if !kept {
		err := denied("Nobody is signed in here. Sign in to the console first.")
		a.count(err)
		return shoal.Principal{}, err
	}
	caller, err := a.visitor(r, secret)
	if err != nil {
		return shoal.Principal{}, err
	}
	return actElsewhere(caller, r)
}

// Address returns where a request comes from, as far as one sender can choose it: of an IPv6 address
// only the network.
func (a *Authenticator) Address(r *http.Request) string { return a.address(r) }
