package openai

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal/agent"
)

// HostedTool is a tool that OpenAI executes while the model answers: a [WebSearch] or a
// [CodeInterpreter]. What it does costs extra, needs no permission, and is kept in the
// conversation as the package describes.
type HostedTool interface{ declare() (any, error) }

// WebSearch lets the model search the web. The texts that it writes have citations
// ([agent.Part].Citations).
type WebSearch struct {
	// AllowedDomains are the only ones whose pages are found, with their subdomains and
	// without a scheme; none means all.
	AllowedDomains []string
	// ContextSize is how much of the found pages the model reads: low, medium or high. Empty
	// leaves it to the provider.
	ContextSize string
}

type searchFilters struct {
	Allowed []string `json:"allowed_domains"`
}

func (w WebSearch) declare() (any, error) {
	if w.ContextSize != "" && !slices.Contains([]string{"low", "medium", "high"}, w.ContextSize) {
		return nil, errors.New("has a ContextSize that is not low, medium or high")
	}
	declared := struct {
		Type    string         `json:"type"`
		Filters *searchFilters `json:"filters,omitempty"`
		Size    string         `json:"search_context_size,omitempty"`
	}{Type: "web_search", Size: w.ContextSize}
	if len(w.AllowedDomains) > 0 {
		declared.Filters = &searchFilters{w.AllowedDomains}
	}
	return declared, nil
}

// CodeInterpreter lets the model run Python in a container of the provider.
type CodeInterpreter struct {
	// Container is the id of a container; empty lets the provider make one.
	Container string
}

func (c CodeInterpreter) declare() (any, error) {
	var container any = map[string]string{"type": "auto"}
	if c.Container != "" {
		container = c.Container
	}
	return map[string]any{"type": "code_interpreter", "container": container}, nil
}

// cite emits the citations of a text, which begins at the byte start of its part. The wire
// counts in characters.
func (a *responsesAnswer) cite(text string, annotations []json.RawMessage, start int) {
	for _, raw := range annotations {
		var c struct {
			Type  string `json:"type"`
			URL   string `json:"url"`
			Title string `json:"title"`
			Start int    `json:"start_index"`
			End   int    `json:"end_index"`
		}
		if json.Unmarshal(raw, &c) != nil || c.Type != "url_citation" {
			continue
		}
		cited := agent.Citation{URL: c.URL, Title: c.Title}
		if from, to := byteAt(text, c.Start), byteAt(text, c.End); from >= 0 && to > from {
			cited.Start, cited.End = start+from, start+to
		}
		a.out.Emit(agent.Chunk{Kind: agent.ChunkCitation, Citation: &cited})
	}
}

// byteAt returns where the character n of a text begins, -1 if the text is shorter.
func byteAt(text string, n int) int {
	seen := 0
	for at := range text {
		if seen == n {
			return at
		}
		seen++
	}
	if seen == n {
		return len(text)
	}
	return -1
}
