package vendor

import (
	"cmp"
	"context"
	"os"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/azure"
	"github.com/shoal-dev/shoal/agent/provider/bedrock"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/token"
	"github.com/shoal-dev/shoal/agent/provider/vertex"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// The clouds by their names in a configuration.
const (
	azureName   = "azure"
	vertexName  = "vertex"
	bedrockName = "bedrock"
)

// cloudProviders are the names of the clouds in [agent.ModelInfo], by which prices are found.
var cloudProviders = map[string]string{azureName: azure.Provider, vertexName: vertex.Provider, bedrockName: bedrock.Provider}

// tokens has a cache for each identity that tokens are requested for.
type tokens struct {
	mu     sync.Mutex
	caches map[any]*token.Cache
}

// of returns the cache of an identity; source is that of a new one.
func (t *tokens) of(identity any, source token.Source) *token.Cache {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.caches == nil {
		t.caches = map[any]*token.Cache{}
	}
	if t.caches[identity] == nil {
		t.caches[identity] = token.NewCache(source)
	}
	return t.caches[identity]
}

func (v *Maker) azure(m agentconfig.Model) (agent.Model, error) {
	o := azure.Options{
		Endpoint: cmp.Or(m.BaseURL, v.key("AZURE_OPENAI_ENDPOINT")), APIKey: v.key("AZURE_OPENAI_API_KEY"), APIVersion: v.key("AZURE_OPENAI_API_VERSION"),
	}
	app := azure.Secret{Tenant: v.key("AZURE_TENANT_ID"), ClientID: v.key("AZURE_CLIENT_ID"), ClientSecret: v.key("AZURE_CLIENT_SECRET")}
	if o.APIKey == "" && app.Tenant != "" && app.ClientID != "" && app.ClientSecret != "" {
		o.Token = v.tokens.of(app, app)
	}
	if m.API == apiResponses {
		return azure.Responses(m.Name, o), nil
	}
	return azure.Chat(m.Name, o), nil
}

func (v *Maker) vertex(m agentconfig.Model) (agent.Model, error) {
	file := v.key("GOOGLE_APPLICATION_CREDENTIALS")
	source := vertex.Metadata(nil)
	if file != "" {
		if _, err := credentials(file); err != nil {
			return nil, err
		}
		source = token.Func(func(ctx context.Context) (token.Token, error) {
			s, err := credentials(file) // it may have been replaced
			if err != nil {
				return token.Token{}, err
			}
			return s.Token(ctx)
		})
	}
	o := vertex.Options{Project: v.key("GOOGLE_CLOUD_PROJECT"), Location: cmp.Or(v.key("GOOGLE_CLOUD_LOCATION"), "global"), Token: v.tokens.of(file, source)}
	if strings.HasPrefix(m.Name, "claude") {
		return vertex.Claude(m.Name, o, anthropic.Options{BaseURL: m.BaseURL}), nil
	}
	return vertex.Gemini(m.Name, o, google.Options{BaseURL: m.BaseURL}), nil
}

// credentials returns the source of tokens for a file. The error names the variable, and
// nothing of the file.
func credentials(file string) (token.Source, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &MissingKeyError{vertexName, "GOOGLE_APPLICATION_CREDENTIALS to a file that it can read"}
	}
	source, err := vertex.Credentials(data, nil)
	if err != nil {
		return nil, &MissingKeyError{vertexName, "GOOGLE_APPLICATION_CREDENTIALS to a file with the key of a service account, or of gcloud,"}
	}
	return source, nil
}

func (v *Maker) bedrock(m agentconfig.Model) (agent.Model, error) {
	o := bedrock.Options{Region: cmp.Or(v.key("AWS_REGION"), v.key("AWS_DEFAULT_REGION")), APIKey: v.key("AWS_BEARER_TOKEN_BEDROCK")}
	c := bedrock.Credentials{AccessKeyID: v.key("AWS_ACCESS_KEY_ID"), SecretAccessKey: v.key("AWS_SECRET_ACCESS_KEY"), SessionToken: v.key("AWS_SESSION_TOKEN")}
	if o.APIKey == "" && c.AccessKeyID != "" && c.SecretAccessKey != "" {
		o.Credentials = bedrock.Static(c)
	}
	return bedrock.Claude(m.Name, o, anthropic.Options{BaseURL: m.BaseURL}), nil
}

// checkCloud refuses a model that a cloud serves on a wire that the server does not know.
func checkCloud(m agentconfig.Model) error {
	if m.Provider == bedrockName && !strings.Contains(m.Name, "claude") && !strings.HasPrefix(m.Name, "arn:") {
		return shoal.Invalid("model.name", "must be a Claude model, such as us.anthropic.claude-sonnet-4-5-20250929-v1:0, or the ARN of an inference profile of one: other models of bedrock cannot be used")
	}
	return nil
}
