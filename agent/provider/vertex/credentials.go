package vertex

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

// Scope is what tokens for Vertex AI are requested for.
const Scope = "https://www.googleapis.com/auth/cloud-platform"

// tokenURL issues tokens for credentials that name no other address.
const tokenURL = "https://oauth2.googleapis.com/token"

// credentials is a file of Google Cloud, of one of two types.
type credentials struct {
	Type     string `json:"type"`
	TokenURI string `json:"token_uri"`
	// A service account.
	Email string `json:"client_email"`
	Key   string `json:"private_key"`
	KeyID string `json:"private_key_id"`
	// A user.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// Credentials returns the source of tokens for a file of credentials: the key of a service
// account, or what gcloud auth application-default login writes. Other types, such as those
// of workload identities, need the source of a library (see [token.OAuth2]). client requests
// the tokens; nil is one with a limit of 30 seconds. The error is of kind ErrInvalidArgument
// and contains nothing of the file.
func Credentials(file []byte, client *http.Client) (token.Source, error) {
	var c credentials
	if json.Unmarshal(file, &c) != nil {
		return nil, agent.Invalid("credentials", "are not a JSON file of Google Cloud")
	}
	c.TokenURI = cmp.Or(c.TokenURI, tokenURL)
	if u, err := url.Parse(c.TokenURI); err != nil || u.Host == "" {
		return nil, agent.Invalid("credentials.token_uri", "must be a URL")
	}
	switch c.Type {
	case "authorized_user":
		return token.Func(func(ctx context.Context) (token.Token, error) {
			return c.exchange(ctx, client, url.Values{
				"grant_type": {"refresh_token"}, "client_id": {c.ClientID}, "client_secret": {c.ClientSecret}, "refresh_token": {c.RefreshToken},
			})
		}), nil
	case "service_account":
		key, err := privateKey(c.Key)
		if err != nil || c.Email == "" {
			return nil, agent.Invalid("credentials", "of a service account need client_email, and private_key with an RSA key")
		}
		return token.Func(func(ctx context.Context) (token.Token, error) {
			assertion, err := c.assert(key, time.Now())
			if err != nil {
				return token.Token{}, err
			}
			return c.exchange(ctx, client, url.Values{
				"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
			})
		}), nil
	}
	return nil, agent.Invalid("credentials.type", "must be service_account or authorized_user; for other types use the source of a library")
}

func (c *credentials) exchange(ctx context.Context, client *http.Client, form url.Values) (token.Token, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.TokenURI, strings.NewReader(form.Encode()))
	if err != nil {
		return token.Token{}, agent.Invalid("credentials.token_uri", "cannot be called")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return wire.FetchToken(Provider, client, req)
}

// assert writes a JWT, signed with RS256, that asks for a token of an hour.
func (c *credentials) assert(key *rsa.PrivateKey, at time.Time) (string, error) {
	var parts [2]string
	for i, claims := range []any{
		map[string]string{"alg": "RS256", "typ": "JWT", "kid": c.KeyID},
		map[string]any{"iss": c.Email, "scope": Scope, "aud": c.TokenURI, "iat": at.Unix(), "exp": at.Add(time.Hour).Unix()},
	} {
		raw, err := json.Marshal(claims)
		if err != nil {
			return "", err
		}
		parts[i] = base64.RawURLEncoding.EncodeToString(raw)
	}
	text := parts[0] + "." + parts[1]
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// privateKey reads an RSA key in PEM, as PKCS #8 or PKCS #1.
func privateKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, agent.Invalid("private_key", "is not PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(*rsa.PrivateKey); ok && err == nil {
		return key, nil
	}
	return x509.ParsePKCS1PrivateKey(block.Bytes)
}

// Metadata returns the source of tokens of the service account that the machine runs as, on
// Google Cloud: Compute Engine, GKE, Cloud Run. The variable GCE_METADATA_HOST names another
// host of the metadata server. client requests the tokens; nil is one with a limit of 30
// seconds.
func Metadata(client *http.Client) token.Source {
	return token.Func(func(ctx context.Context) (token.Token, error) {
		host := cmp.Or(os.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
		to := "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" + url.QueryEscape(Scope)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, http.NoBody)
		if err != nil {
			return token.Token{}, agent.Invalid("GCE_METADATA_HOST", "must be a host")
		}
		req.Header.Set("Metadata-Flavor", "Google")
		return wire.FetchToken(Provider, client, req)
	})
}
