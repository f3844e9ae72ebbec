package price

import (
	"regexp"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// List is a list of prices.
type List struct {
	asOf, source string
	providers    map[string]*provider // by canonical name and alias
	all          []Price
}

type provider struct {
	name   string
	models map[string]Price // by canonical name
}

// AsOf returns the date of the prices, as 2006-01-02.
func (l *List) AsOf() string { return l.asOf }

// Source returns where the prices come from.
func (l *List) Source() string { return l.source }

// All returns every price, in the order of the file.
func (l *List) All() []Price { return append([]Price(nil), l.all...) }

// Of returns the cost of u with model in USD, 0 if the model is not in the list. It can
// be used as agent.Options.Price.
func (l *List) Of(model agent.ModelInfo, u agent.Usage) float64 {
	p, ok := l.Lookup(model)
	if !ok {
		return 0
	}
	return p.Cost(u)
}

// Lookup returns the price of model, and whether the list has one. It uses the longest
// name of model.Provider that model.Name begins with, if only a version follows: a date,
// a number of at least three digits, latest, preview or exp. So gpt-5-mini-2025-08-07 is gpt-5-mini, and gpt-5-giga
// is unknown. Case does not matter, nor whether a version is written with dots
// or dashes.
//
// Claude at Vertex AI (gcp.vertex_ai) and Bedrock (aws.bedrock) has the price that it has at
// Anthropic, which regional endpoints of both exceed by a tenth: their list price is not in
// the file. The names that both give it (us.anthropic.claude-sonnet-4-5-20250929-v1:0,
// claude-sonnet-4-5@20250929) are understood.
//
// A name with a vendor before a slash, as gateways write it
// (anthropic/claude-opus-4.5), is looked up with that vendor, whatever the
// provider, unless the provider lists the whole name.
func (l *List) Lookup(model agent.ModelInfo) (Price, bool) {
	name := strings.TrimPrefix(canonical(model.Name), "models/")
	if p, ok := l.providers[canonical(model.Provider)].lookup(name); ok {
		return p, true
	}
	if at := strings.Index(name, "claude"); at >= 0 && isCloud(model.Provider) {
		return l.providers["anthropic"].lookup(revision.ReplaceAllString(name[at:], ""))
	}
	vendor, rest, gateway := strings.Cut(name, "/")
	if !gateway {
		return Price{}, false
	}
	return l.providers[vendor].lookup(rest)
}

// revision is what Bedrock writes after the names of models.
var revision = regexp.MustCompile(`-v\d+(:\d+)*$`)

func isCloud(provider string) bool {
	return provider == "gcp.vertex_ai" || provider == "aws.bedrock"
}

// lookup may be called on nil, which lists nothing.
func (p *provider) lookup(name string) (Price, bool) {
	if p == nil {
		return Price{}, false
	}
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-@:") {
		if price, ok := p.models[name[:end]]; ok {
			return price, onlyVersion(name[end:])
		}
	}
	return Price{}, false
}

// onlyVersion reports whether rest, the end of a model's name, names a version of the
// same model and not another model.
func onlyVersion(rest string) bool {
	for i, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '@' || r == ':' }) {
		number := strings.Trim(part, "0123456789") == ""
		if number && i == 0 && len(part) < 3 {
			return false // claude-opus-4-5 is not claude-opus-4
		}
		if !number && part != "latest" && part != "preview" && part != "exp" {
			return false
		}
	}
	return true
}

func canonical(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), ".", "-")
}
