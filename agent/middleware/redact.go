package middleware

import (
	"context"
	"iter"
	"regexp"
	"slices"

	"github.com/shoal-dev/shoal/agent"
)

// Redact replaces whatever matches one of the patterns in the texts that a model reads:
// instructions, messages, the arguments and results of calls, and the descriptions of
// tools. The stored conversation, events and tools are not affected: a call whose arguments
// the model wrote itself runs with them. Files, and what a provider wants back unread
// (Part.Opaque), are sent as they are.
//
// replacement is inserted as it is. Arguments stay valid JSON if the patterns match within
// strings only and the replacement needs no escapes. The same text is always redacted in
// the same way, so prompt caches stay valid. Summaries are written by another call: wrap
// Reduction.Summarizer with [Wrap], or the model that writes them reads everything.
func Redact(replacement string, patterns ...*regexp.Regexp) agent.Middleware {
	r := redactor{replacement: replacement, patterns: slices.Clone(patterns)}
	return agent.Middleware{Name: "redact", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			return next(ctx, r.request(req))
		}
	}}
}

type redactor struct {
	replacement string
	patterns    []*regexp.Regexp
}

// request returns a redacted copy, because a request is shared.
func (r redactor) request(req *agent.Request) *agent.Request {
	out := *req
	out.Instructions = r.text(req.Instructions)
	out.Messages, out.Tools = slices.Clone(req.Messages), slices.Clone(req.Tools)
	for i := range out.Messages {
		m := &out.Messages[i]
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			r.part(&m.Parts[j])
		}
	}
	for i := range out.Tools {
		out.Tools[i].Description = r.text(out.Tools[i].Description)
	}
	return &out
}

func (r redactor) part(p *agent.Part) {
	p.Text = r.text(p.Text)
	if p.Call != nil {
		call := *p.Call
		call.Arguments = r.text(call.Arguments)
		p.Call = &call
	}
	if p.Result != nil {
		result := *p.Result
		result.Text = r.text(result.Text)
		p.Result = &result
	}
}

func (r redactor) text(s string) string {
	for _, pattern := range r.patterns {
		s = pattern.ReplaceAllLiteralString(s, r.replacement)
	}
	return s
}
