package sigv4_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/sigv4"
)

// The signatures are those of the test suite that AWS publishes; those of calls of Bedrock, with
// escapes in their paths, are what AWS's SDK for Go 1.48 has made.
func TestSign(t *testing.T) {
	const bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/"
	suite := sigv4.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, c := range []struct {
		name, method, url, body, service, region string
		header                                   map[string]string
		signed, signature                        string
	}{
		{"get-vanilla", "GET", "https://example.amazonaws.com/", "", "service", "us-east-1", nil, "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla without a path", "GET", "https://example.amazonaws.com", "", "service", "us-east-1", nil, "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "", "service", "us-east-1", nil, "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"post-vanilla", "POST", "https://example.amazonaws.com/", "", "service", "us-east-1", nil, "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-x-www-form-urlencoded", "POST", "https://example.amazonaws.com/", "Param1=value1", "service", "us-east-1", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, "content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"a model with a version", "POST", bedrock + "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream", `{"x":1}`, "bedrock", "us-east-1", map[string]string{"Content-Type": "application/json", "Token": "tok=="}, "content-type;host;x-amz-date;x-amz-security-token", "4ac43d27fb634b84ba7dc35d63db13fd32eb6c8ab3d6adbbee5279d246cc199c"},
		{"an inference profile", "POST", bedrock + "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-opus-5/invoke-with-response-stream", `{"x":1}`, "bedrock", "us-east-1", map[string]string{"Content-Type": "application/json"}, "content-type;host;x-amz-date", "303518cf5a99c4980bdbbdbcd10421ccbbb08375aaf41364b3824259b2734042"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, c.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range c.header {
			req.Header.Set(name, value)
		}
		req.Header.Set("User-Agent", "is not signed: proxies change it")
		suite.SessionToken = c.header["Token"]
		sigv4.Sign(req, []byte(c.body), suite, c.region, c.service, at)
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/" + c.region + "/" + c.service + "/aws4_request, SignedHeaders=" + c.signed + ", Signature=" + c.signature
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// A second signature replaces the first, with the token of the new credentials or without one.
func TestSignAgain(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.amazonaws.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, token := range []string{"first", "", "second"} {
		sigv4.Sign(req, nil, sigv4.Credentials{AccessKeyID: "A", SecretAccessKey: "s", SessionToken: token}, "r", "s", at)
		signed := strings.Contains(req.Header.Get("Authorization"), "x-amz-security-token,") || strings.Contains(req.Header.Get("Authorization"), ";x-amz-security-token")
		if got := req.Header.Values("X-Amz-Security-Token"); strings.Join(got, "") != token || len(got) > 1 || signed != (token != "") {
			t.Errorf("token %q: %q, %s", token, got, req.Header.Get("Authorization"))
		}
	}
}
