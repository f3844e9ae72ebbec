// Package bedrock is an [agent.Model] on Claude of Anthropic at Amazon Bedrock.
//
//	model := bedrock.Claude("us.anthropic.claude-sonnet-4-5-20250929-v1:0", bedrock.Options{Region: "us-east-1"})
//
// Credentials come from Options, or from the environment as AWS names them. Those of AWS's
// SDK are a [Source], too, and bring roles, profiles and machines:
//
//	config, err := config.LoadDefaultConfig(ctx) // github.com/aws/aws-sdk-go-v2/config
//	source := bedrock.Func(func(ctx context.Context) (bedrock.Credentials, error) {
//		c, err := config.Credentials.Retrieve(ctx)
//		return bedrock.Credentials{
//			AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken, Expires: c.Expires,
//		}, err
//	})
//
// The wire is that of package anthropic in the operation InvokeModelWithResponseStream, and
// the promises of that package hold here, too: one attempt for each call, no redirects, a
// stream that ends early is an error, and no secret is in an error. Besides:
//   - Requests are signed with Signature Version 4, or carry an API key of Bedrock. Credentials
//     that end are kept until three minutes before that; after a refusal because they have
//     ended, new ones are requested and the call is made once more.
//   - Events are checked: lengths, checksums and headers. What does not fit is an error of
//     class malformed.
//   - Signatures of thoughts are valid at every platform, so a conversation can go on at
//     Anthropic or Vertex AI.
//   - Bedrock does not execute Anthropic's hosted tools: it refuses them.
package bedrock

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/sigv4"
	"github.com/shoal-dev/shoal/agent/provider/internal/renewed"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// Provider is the name in errors and in [agent.ModelInfo].
const Provider = "aws.bedrock"

const (
	keyVar = "AWS_BEARER_TOKEN_BEDROCK"

	version    = "bedrock-2023-05-31" // of the wire
	service    = "bedrock"            // in signatures
	eventsType = "application/vnd.amazon.eventstream"
)

// Credentials are the keys of an identity of AWS.
type Credentials struct {
	AccessKeyID, SecretAccessKey string
	// SessionToken is empty for keys that do not end.
	SessionToken string
	// Expires is when AWS no longer accepts them. With the zero value they are used for one
	// call.
	Expires time.Time
}

// Source returns credentials. It must be safe for concurrent use, and return when ctx has
// ended. A [*agent.ModelError] that it returns is the error of the call; every other error
// becomes one of class auth.
type Source interface {
	Credentials(ctx context.Context) (Credentials, error)
}

// Func is a function as a [Source].
type Func func(ctx context.Context) (Credentials, error)

// Credentials calls the function.
func (f Func) Credentials(ctx context.Context) (Credentials, error) { return f(ctx) }

// Static returns a source of credentials that do not change.
func Static(c Credentials) Source {
	return Func(func(context.Context) (Credentials, error) { return c, nil })
}

// Options say where the model is, and authorize the calls.
type Options struct {
	// Region is the region of AWS that is called, such as us-east-1. Empty is the variable
	// AWS_REGION, else AWS_DEFAULT_REGION, as they are when the model is made.
	Region string
	// Credentials sign the calls. Without them and without APIKey, the variables
	// AWS_BEARER_TOKEN_BEDROCK, else AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
	// AWS_SESSION_TOKEN, as they are when the model is made, are used for addresses of AWS;
	// another BaseURL then gets neither.
	Credentials Source
	// APIKey is a key of Bedrock, in place of Credentials.
	APIKey string
	// Model is the name that Anthropic gives the model, such as claude-sonnet-4-5, for an
	// inference profile whose ARN does not have it: settings and prices are chosen by it.
	Model string
}

// Claude returns a model by its id at Bedrock, or by the id or ARN of an inference profile. Of
// the options of package anthropic it takes all but APIKey and Key; its BaseURL, in place of
// the region's, goes up to and excluding /model. Invalid options are reported as the error of
// each call.
func Claude(id string, o Options, more ...anthropic.Options) agent.Model {
	options := wire.Over(more...)
	region := cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	p := &wire.Platform{
		Vendor: wire.Vendor{
			Provider: Provider, URL: host(region), Explain: explain, Words: words,
			Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		},
		Path:    "/model/" + strings.ReplaceAll(url.PathEscape(id), ":", "%3A") + "/invoke-with-response-stream",
		Version: version, Accept: eventsType, Open: open,
	}
	p.Invalid = o.invalid(id, region, options)
	if o.Credentials == nil && o.APIKey == "" && ofAWS(cmp.Or(options.BaseURL, p.URL)) {
		o.fromEnvironment()
		if o.Credentials == nil && o.APIKey == "" && p.Invalid == nil {
			p.Invalid = &agent.ModelError{
				Class: agent.ClassAuth, Provider: Provider,
				Detail: "no credentials: set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or " + keyVar + ", or Options.Credentials",
			}
		}
	}
	if o.Credentials != nil {
		p.Sign = signer(o.Credentials, region)
	}
	options.BaseURL, options.APIKey, options.Key = cmp.Or(options.BaseURL, p.URL), o.APIKey, nil
	return anthropic.On(p, cmp.Or(o.Model, id), options)
}

// signer returns what signs requests with the credentials of a source.
func signer(source Source, region string) func(*http.Request, []byte, bool) ([]string, error) {
	keys := renewed.New(func(ctx context.Context) (Credentials, time.Time, error) {
		c, err := source.Credentials(ctx)
		if err == nil && (c.AccessKeyID == "" || c.SecretAccessKey == "") {
			err = errors.New("the source returned empty credentials")
		}
		return c, c.Expires, err
	})
	return func(req *http.Request, body []byte, refresh bool) ([]string, error) {
		c, err := keys.Get(req.Context(), refresh)
		if err != nil {
			return nil, err
		}
		sigv4.Sign(req, body, sigv4.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken}, region, service, time.Now())
		return []string{c.SecretAccessKey, c.SessionToken}, nil
	}
}

func (o *Options) fromEnvironment() {
	if o.APIKey = os.Getenv(keyVar); o.APIKey != "" {
		return
	}
	c := Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN")}
	if c.AccessKeyID != "" && c.SecretAccessKey != "" {
		o.Credentials = Static(c)
	}
}

var regionForm = regexp.MustCompile(`^[a-z]{2,}(-[a-z0-9]+)+$`)

// invalid returns what is wrong with the options, apart from missing credentials.
func (o *Options) invalid(id, region string, more anthropic.Options) error {
	switch {
	case strings.Trim(id, ".") == "":
		return agent.Invalid("model", "must name a model of Bedrock")
	case !regionForm.MatchString(region):
		return agent.Invalid("Region", "must be a region of AWS, such as us-east-1; the environment variable AWS_REGION can have it, too")
	case o.Credentials != nil && o.APIKey != "":
		return agent.Invalid("Credentials", "cannot be combined with APIKey")
	case more.APIKey != "" || more.Key != nil:
		return agent.Invalid("anthropic.Options", "cannot have APIKey or Key here: bedrock.Options has what replaces them")
	}
	return nil
}

// host is the address of a region.
func host(region string) string {
	domain := ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain += ".cn"
	}
	return "https://bedrock-runtime." + url.PathEscape(region) + domain
}

// ofAWS reports whether an address is one of AWS.
func ofAWS(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return false
	}
	name := strings.ToLower(u.Hostname())
	return strings.HasSuffix(name, ".amazonaws.com") || strings.HasSuffix(name, ".amazonaws.com.cn") || strings.HasSuffix(name, ".api.aws")
}
