package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

// FetchToken sends a request to the token endpoint of an OAuth 2 server and returns the
// access token of its answer. client may be nil; no redirect is followed. The errors are
// those of a call of the provider: class auth if the server refused the credentials. They
// contain no credentials.
func FetchToken(provider string, client *http.Client, req *http.Request) (token.Token, error) {
	x := &Exchange{client: &Client{info: agent.ModelInfo{Provider: provider}}}
	c := http.Client{Timeout: 30 * time.Second}
	if client != nil {
		c = *client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	at := time.Now()
	resp, err := c.Do(req)
	if err != nil {
		return token.Token{}, x.Broken("the server that issues tokens was not reached", err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return token.Token{}, x.Broken("the answer of the server that issues tokens broke off", err)
	}
	var answer struct {
		Token   string      `json:"access_token"`
		Seconds json.Number `json:"expires_in"`
		Code    string      `json:"error"`
		Reason  string      `json:"error_description"`
	}
	invalid := json.Unmarshal(said, &answer)
	if resp.StatusCode != http.StatusOK {
		class := ClassOf(resp.StatusCode)
		if class == agent.ClassInvalid {
			class = agent.ClassAuth // the request is always the same but for the credentials
		}
		reason, _, _ := strings.Cut(answer.Reason, "\n")
		return token.Token{}, &agent.ModelError{
			Class: class, Provider: provider, Status: resp.StatusCode, Code: x.Words(answer.Code),
			Detail: x.Words(strings.TrimSpace("no token for the call: " + reason)), RetryAfter: retryAfter(resp.Header, at),
		}
	}
	seconds, err := answer.Seconds.Int64()
	if invalid != nil || answer.Token == "" || err != nil || seconds < 0 || seconds > int64(longestAsk/time.Second)*366 {
		return token.Token{}, &agent.ModelError{
			Class: agent.ClassMalformed, Provider: provider, Status: resp.StatusCode, Detail: "the server that issues tokens sent no token with its life",
		}
	}
	return token.Token{Value: answer.Token, Expires: at.Add(time.Duration(seconds) * time.Second)}, nil
}
