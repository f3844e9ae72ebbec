package google

import (
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// HostedTool is a tool that Google executes while the model answers: a [Search] or a
// [CodeExecution]. What it does costs extra, needs no permission, and is kept in the
// conversation as the package describes. Models before Gemini 3 refuse hosted tools beside
// the agent's own.
type HostedTool interface{ declare() any }

// Search lets the model search the web with Google. The texts that it writes have citations
// ([agent.Part].Citations). Google's terms ask programs to show its search suggestions, which
// this package does not pass on.
type Search struct{}

func (Search) declare() any { return map[string]any{"googleSearch": struct{}{}} }

// CodeExecution lets the model run Python in a container of the provider.
type CodeExecution struct{}

func (CodeExecution) declare() any { return map[string]any{"codeExecution": struct{}{}} }

// grounding is what an answer says about its sources. The ranges are in bytes.
type grounding struct {
	Chunks []struct {
		Web *struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
		} `json:"web"`
	} `json:"groundingChunks"`
	Supports []struct {
		Segment struct {
			Start int    `json:"startIndex"`
			End   int    `json:"endIndex"`
			Text  string `json:"text"`
		} `json:"segment"`
		Chunks []int `json:"groundingChunkIndices"`
	} `json:"groundingSupports"`
}

// cite emits the citations of the answer. Ranges refer to parts of the wire, of which a
// stream has more than the answer, so a range counts only if it has the text that it names.
func (r *reader) cite() {
	if r.ground == nil {
		return
	}
	text := r.text.String()
	for _, s := range r.ground.Supports {
		start, end := s.Segment.Start, s.Segment.End
		if start < 0 || end > len(text) || start > end || text[start:end] != s.Segment.Text {
			if start = strings.Index(text, s.Segment.Text); start < 0 {
				start, end = 0, 0
			} else {
				end = start + len(s.Segment.Text)
			}
		}
		for _, i := range s.Chunks {
			if i < 0 || i >= len(r.ground.Chunks) || r.ground.Chunks[i].Web == nil {
				continue
			}
			web := r.ground.Chunks[i].Web
			r.x.Emit(agent.Chunk{Kind: agent.ChunkCitation, Citation: &agent.Citation{URL: web.URI, Title: web.Title, Start: start, End: end}})
		}
	}
}
