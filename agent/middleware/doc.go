// Package middleware has ready-made middleware for agents: a cache of answers, redaction of
// what models read, recording and replaying of model calls for tests, and a log.
//
//	a, err := agent.New(model, agent.Options{
//		Middleware: []agent.Middleware{middleware.Redact("[card]", cards), middleware.Cache(1000)},
//		Observers:  []agent.Observer{middleware.Log(slog.Default())},
//	})
//
// The first middleware is the outermost: here the cache sees requests after redaction.
// Middleware wraps the model of the turn. The model that writes summaries
// ([agent.Reduction]) is wrapped with [Wrap].
//
// What this package compares requests by is what the model reads, without the ids and times
// that differ from run to run.
package middleware

import (
	"context"
	"iter"

	"github.com/shoal-dev/shoal/agent"
)

// Wrap returns m with the Model hooks of some middleware, the first one outermost; their
// other hooks are ignored. It is for models that are called outside of a turn's steps, such
// as Reduction.Summarizer.
func Wrap(m agent.Model, around ...agent.Middleware) agent.Model {
	f := agent.ModelFunc(m.Stream)
	for i := len(around) - 1; i >= 0; i-- {
		if around[i].Model != nil {
			f = around[i].Model(f)
		}
	}
	return &wrapped{Model: m, stream: f}
}

type wrapped struct {
	agent.Model
	stream agent.ModelFunc
}

// Stream calls the model through the middleware.
func (w *wrapped) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return w.stream(ctx, req)
}
