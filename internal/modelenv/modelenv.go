// Package modelenv lists what model providers read from the environment of the server: keys,
// and where a cloud is called.
package modelenv

import (
	"slices"
	"strings"
)

// need is something that a provider has to have.
type need struct {
	// oneOf are the alternatives. Each is one variable, or several with spaces between them
	// that have to be set together.
	oneOf []string
	// always says that it is needed with a base URL in the configuration, too.
	always bool
}

// provider is a name of a provider in configurations, with what it needs.
type provider struct {
	name  string
	needs []need
}

var providers = []provider{
	{"openai", []need{{oneOf: []string{"OPENAI_API_KEY"}}}},
	{"anthropic", []need{{oneOf: []string{"ANTHROPIC_API_KEY"}}}},
	{"google", []need{{oneOf: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}}}},
	{"azure", []need{
		{oneOf: []string{"AZURE_OPENAI_ENDPOINT"}},
		{oneOf: []string{"AZURE_OPENAI_API_KEY", "AZURE_TENANT_ID AZURE_CLIENT_ID AZURE_CLIENT_SECRET"}},
	}},
	{"vertex", []need{{oneOf: []string{"GOOGLE_CLOUD_PROJECT"}, always: true}}},
	{"bedrock", []need{
		{oneOf: []string{"AWS_REGION", "AWS_DEFAULT_REGION"}, always: true},
		{oneOf: []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY"}},
	}},
}

// further are variables that change what a provider does and that it can do without.
var further = []string{
	"OPENROUTER_API_KEY", "AZURE_OPENAI_API_VERSION", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST", "AWS_SESSION_TOKEN",
}

// open are the variables whose values may be shown.
var open = []string{
	"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION", "AZURE_TENANT_ID", "AZURE_CLIENT_ID",
	"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
}

// Names returns every variable.
func Names() []string {
	var all []string
	for _, p := range providers {
		for _, n := range p.needs {
			for _, alternative := range n.oneOf {
				all = append(all, strings.Fields(alternative)...)
			}
		}
	}
	return append(all, further...)
}

// Secrets returns the variables whose values are secrets.
func Secrets() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return slices.Contains(open, name) })
}

// Missing says which variables a provider lacks, as "A or B, and C"; empty if it lacks none.
// get returns the value of a variable. ownURL says that the configuration has a base URL,
// whose server may need no key.
func Missing(name string, ownURL bool, get func(string) string) string {
	var missing []string
	for _, p := range providers {
		if p.name != name {
			continue
		}
		for _, n := range p.needs {
			if ownURL && !n.always || slices.ContainsFunc(n.oneOf, func(alternative string) bool { return set(alternative, get) }) {
				continue
			}
			missing = append(missing, n.String())
		}
	}
	return strings.Join(missing, ", and ")
}

// Present returns the variables of Names that are set and hold keys, or say where keys are.
func Present(get func(string) string) []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		return get(name) == "" || slices.Contains(open, name) && name != "GOOGLE_APPLICATION_CREDENTIALS"
	})
}

func set(alternative string, get func(string) string) bool {
	return !slices.ContainsFunc(strings.Fields(alternative), func(name string) bool { return get(name) == "" })
}

// String writes the alternatives as "A or B + C".
func (n need) String() string {
	words := make([]string, len(n.oneOf))
	for i, alternative := range n.oneOf {
		words[i] = strings.ReplaceAll(alternative, " ", " + ")
	}
	return strings.Join(words, " or ")
}
