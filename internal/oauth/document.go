package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Limits of metadata documents (draft-ietf-oauth-client-id-metadata-document).
const (
	documentPatience = 5 * time.Second
	maxDocument      = 10 << 10
	maxDocumentURL   = 512
	// maxListed bounds the redirect URIs of a document, which lists those of every version of a program.
	maxListed = 50
	// How long a document is used before it is read again, if its server does not say, and at least and
	// at most if it does.
	usuallyFresh  = time.Hour
	shortestFresh = time.Minute
	longestFresh  = 24 * time.Hour
)

var jsonType = regexp.MustCompile(`^application/(.+\+)?json$`)

// document is what a client says of itself at the address that is its id.
type document struct {
	registration
	ID     string          `json:"client_id"`
	Method string          `json:"token_endpoint_auth_method"`
	Secret json.RawMessage `json:"client_secret"`
}

// isDocument reports whether an id is meant as the address of a document. Ids of clients that have
// registered are not.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// documentHost returns the host of the document that an id is the address of, or "".
func documentHost(id string) string {
	if !isDocument(id) {
		return ""
	}
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	return u.Host
}

// isDocumentURL reports whether an id can be the address of a document: it has a path, and is written in
// one way only, because ids are compared as texts.
func isDocumentURL(id string) bool {
	u, valid := parseRedirect(id)
	return valid && u.Scheme == "https" && len(id) <= maxDocumentURL && strings.Trim(u.Path, "/") != "" && strings.TrimSuffix(u.Path, "/") == path.Clean(u.Path)
}

// findFor returns a function that finds the client with an id for the signed-in person, or fails
// with NotFound; ctx is that of their request. The document of a client is read if it is not known, or is
// not fresh any more. A document that is wrong is InvalidArgument, and replaces nothing.
func (s *Server) findFor(ctx context.Context, caller shoal.Principal) func(id string) (storage.OAuthClient, error) {
	return func(id string) (storage.OAuthClient, error) {
		described := s.Documents != nil && isDocument(id)
		if described && !isDocumentURL(id) {
			return storage.OAuthClient{}, invalid("The program that sent you here has a client_id that is not the address of a metadata document: https://, a host and a path, of at most 512 bytes, without a user name, a fragment, or parts such as `..`.")
		}
		known, err := s.Grants.Client(ctx, id)
		if !described || err == nil && known.FreshUntil != nil && known.FreshUntil.After(time.Now()) || err != nil && !errors.Is(err, shoal.NotFound) {
			return known, err
		}
		if wait := s.reads.Take(person{caller.SessionID, caller.EntityID}); wait > 0 {
			return storage.OAuthClient{}, &shoal.Error{Op: "oauth.document", Kind: shoal.RateLimited, RetryAfter: wait, Msg: "Too many programs were looked up for you. Try again in a minute."}
		}
		doc, fresh, err := s.read(ctx, id)
		if err != nil {
			return storage.OAuthClient{}, err
		}
		uris, hosts := validRedirects(doc.RedirectURIs)
		return s.Grants.Remember(ctx, caller, id, cleanName(doc.Name), uris, hosts, fresh)
	}
}

// read fetches the document at an address and checks it. It returns how long it is fresh.
func (s *Server) read(ctx context.Context, id string) (doc document, fresh time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, documentPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, http.NoBody)
	if err != nil {
		return doc, 0, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := s.Documents.Do(r)
	if err != nil {
		return doc, 0, s.unread(id, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return doc, 0, undescribed(id, fmt.Sprintf("it is answered with the status %d instead of 200; redirects are not followed.", answer.StatusCode))
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || !jsonType.MatchString(kind) {
		return doc, 0, undescribed(id, "its Content-Type must be application/json.")
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err == nil {
		err = ctx.Err() // the end of the connection can look like that of the document
	}
	if err != nil {
		return doc, 0, s.unread(id, err)
	}
	if len(text) > maxDocument {
		return doc, 0, undescribed(id, "it is larger than 10 KiB.")
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return doc, 0, undescribed(id, "it is not the JSON object of a client's metadata.")
	}
	return doc, freshFor(answer.Header), doc.check(id)
}

// check returns what is wrong with the document at an address.
func (d *document) check(id string) error {
	switch uris, _ := validRedirects(d.RedirectURIs); {
	case d.ID != id:
		return undescribed(id, "its client_id is another one: the two must be the same text.")
	case len(d.Secret) > 0 || d.Method != "" && d.Method != "none":
		return undescribed(id, "it wants the program to prove itself with a secret or a key. This server supports token_endpoint_auth_method none only.")
	case !d.usesCodes():
		return undescribed(id, "it does not list the grant type authorization_code with the response type code.")
	case len(d.RedirectURIs) > maxListed:
		return undescribed(id, "it lists more than 50 redirect_uris.")
	case len(uris) == 0:
		return undescribed(id, "it lists no redirect URI to which this server leads a browser: "+redirectRule+".")
	}
	return nil
}

// unread is the error for a document that did not arrive. The reason is for the log only: it could say
// what is reachable from this server.
func (s *Server) unread(id string, err error) error {
	s.Log.Info("the metadata document of an OAuth client cannot be read", "client", id, "error", err)
	return undescribed(id, "it cannot be fetched. It must be on a public HTTPS server, at port 443, and arrive within 5 s.")
}

func undescribed(id, why string) error {
	return invalid("The program that sent you here is described by " + id + ", which this server cannot use: " + why)
}

// freshFor returns how long a document is fresh according to the headers with which it came.
func freshFor(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return shortestFresh
		case "max-age":
			if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				return min(max(time.Duration(seconds)*time.Second, shortestFresh), longestFresh)
			}
		}
	}
	return usuallyFresh
}
