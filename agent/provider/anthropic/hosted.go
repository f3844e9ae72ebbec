package anthropic

import (
	"encoding/json"
	"errors"

	"github.com/shoal-dev/shoal/agent"
)

// HostedTool is a tool that Anthropic executes while the model answers: a [WebSearch] or a
// [CodeExecution]. What it does costs extra, needs no permission, and is kept in the
// conversation as the package describes.
type HostedTool interface{ declare() (any, error) }

// WebSearch lets the model search the web. The texts that it writes have citations
// ([agent.Part].Citations).
type WebSearch struct {
	// MaxUses limits the searches of one model call; 0 leaves it to the provider.
	MaxUses int
	// AllowedDomains are the only ones whose pages are found, BlockedDomains those that are
	// not. Only one of the two can be set.
	AllowedDomains []string
	BlockedDomains []string
}

func (w WebSearch) declare() (any, error) {
	switch {
	case w.MaxUses < 0:
		return nil, errors.New("has a negative MaxUses")
	case len(w.AllowedDomains) > 0 && len(w.BlockedDomains) > 0:
		return nil, errors.New("has allowed and blocked domains; the API takes one of the two")
	}
	return struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		MaxUses int      `json:"max_uses,omitempty"`
		Allowed []string `json:"allowed_domains,omitempty"`
		Blocked []string `json:"blocked_domains,omitempty"`
	}{"web_search_20250305", "web_search", w.MaxUses, w.AllowedDomains, w.BlockedDomains}, nil
}

// CodeExecution lets the model run commands and edit files in a container of the provider.
// Calls are sent with the beta header that the API required for it at first.
type CodeExecution struct{}

func (CodeExecution) declare() (any, error) { //nolint:unparam // [HostedTool] has it
	return map[string]string{"type": "code_execution_20250825", "name": "code_execution"}, nil
}

// codeBeta is the value of Anthropic-Beta for a [CodeExecution].
const codeBeta = "code-execution-2025-08-25"

// betasOf returns the beta header that the tools need, empty if none does.
func betasOf(tools []HostedTool) string {
	for _, t := range tools {
		if _, runs := t.(CodeExecution); runs {
			return codeBeta
		}
	}
	return ""
}

// citation is a citation on the wire, of each of its kinds.
type citation struct {
	URL      string `json:"url"`
	Source   string `json:"source"` // of a search result that the client gave
	Title    string `json:"title"`
	Document string `json:"document_title"`
	Quote    string `json:"cited_text"`
}

// cited returns the citation of a block of text, whose place in the part is start to end.
func cited(raw json.RawMessage, start, end int) *agent.Citation {
	var c citation
	if json.Unmarshal(raw, &c) != nil {
		return nil // of a kind that came later; it goes back nevertheless
	}
	out := agent.Citation{URL: c.URL, Title: c.Title, Quote: c.Quote, Start: start, End: end}
	if out.URL == "" {
		out.URL = c.Source
	}
	if out.Title == "" {
		out.Title = c.Document
	}
	return &out
}
