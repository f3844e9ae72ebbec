package modelrequest

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Options configure a [Recorder]. All fields are required.
type Options struct {
	// Model returns the name of the model.
	Model func() string
	// Step returns the index of the step whose request is being sent.
	Step func() int
	// ForgetStored removes the texts from a request that earlier runs have stored.
	ForgetStored func(context.Context, *runs.SentRequest) error
	Log          *slog.Logger
}

// Recorder records the requests to the model of one run until they are stored with their
// steps. It encodes each text once, and returns each text only until it is stored. It is
// safe for concurrent use.
type Recorder struct {
	o Options

	mu       sync.Mutex
	requests map[int]*agent.Request // by step; those that are not stored

	storing sync.Mutex      // acquired before mu; guards what follows
	stored  map[string]bool // hashes of stored texts
	// Encoded texts, by the first element of what they encode: the agent never changes a
	// part of a request that it has sent.
	messages map[*agent.Part]storage.ModelText
	tools    map[*agent.ToolSpec]storage.ModelText
	system   map[string]storage.ModelText
}

// NewRecorder returns a recorder without requests.
func NewRecorder(o Options) *Recorder {
	return &Recorder{
		o: o, requests: map[int]*agent.Request{}, stored: map[string]bool{},
		messages: map[*agent.Part]storage.ModelText{}, tools: map[*agent.ToolSpec]storage.ModelText{}, system: map[string]storage.ModelText{},
	}
}

// Middleware records each request as it goes to the model, so it must be the innermost
// middleware that changes one. When a call is retried, the last request wins.
func (r *Recorder) Middleware() agent.Middleware {
	return agent.Middleware{Name: "recorder", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			r.mu.Lock()
			r.requests[r.o.Step()] = req
			r.mu.Unlock()
			return next(ctx, req)
		}
	}}
}

// Unstored returns the requests of the steps up to and including upTo that are not
// stored, in the order of the steps. It logs a request that cannot be encoded and leaves
// it out: a step is worth more than the record of its request.
func (r *Recorder) Unstored(ctx context.Context, upTo int) []runs.SentRequest {
	r.storing.Lock()
	defer r.storing.Unlock()
	r.mu.Lock()
	requests := maps.Clone(r.requests)
	r.mu.Unlock()
	var out []runs.SentRequest
	for _, step := range slices.Sorted(maps.Keys(requests)) {
		if step > upTo {
			break
		}
		sent, err := r.encode(step, requests[step])
		if err != nil {
			r.o.Log.Error("the request to the model cannot be stored", "step", step, "error", err)
			continue
		}
		sent.Forget(func(hash string) bool { return r.stored[hash] })
		if len(r.stored) == 0 { // earlier runs may have stored most of the history
			if err := r.o.ForgetStored(ctx, &sent); err != nil {
				r.o.Log.Debug("the stored texts of the history cannot be read; they are stored again", "error", err)
			}
		}
		out = append(out, sent)
	}
	return out
}

// encode returns the texts of a request. The caller holds storing.
func (r *Recorder) encode(step int, req *agent.Request) (sent runs.SentRequest, err error) {
	system, err := textOf(r.system, req.Instructions, func() any { return req.Instructions })
	if err != nil {
		return sent, err
	}
	tools, err := textOf(r.tools, first(req.Tools), func() any { return publicTools(req.Tools) })
	if err != nil {
		return sent, err
	}
	messages := make([]storage.ModelText, len(req.Messages))
	for i, m := range req.Messages {
		key := first(m.Parts)
		if slices.ContainsFunc(m.Parts, func(p agent.Part) bool { return p.File != nil && len(p.File.Data) > 0 }) {
			key = nil // made for this request alone; the map would keep its bytes in memory
		}
		if messages[i], err = textOf(r.messages, key, func() any { return PublicMessage(m) }); err != nil {
			return sent, err
		}
	}
	return runs.NewSentRequest(step, r.o.Model(), system, tools, messages), nil
}

// textOf returns the encoded text of key, and encodes value if there is none. The zero
// key is never cached.
func textOf[K comparable](encoded map[K]storage.ModelText, key K, value func() any) (storage.ModelText, error) {
	if text, found := encoded[key]; found {
		return text, nil
	}
	text, err := runs.NewModelText(value())
	var zero K
	if err == nil && key != zero {
		encoded[key] = text
	}
	return text, err
}

// first returns the address of the first element, nil for an empty list.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// Save stores requests that Unstored returned.
func Save(c *runs.RunChange, requests []runs.SentRequest) error {
	for _, sent := range requests {
		if err := c.SaveRequest(sent); err != nil {
			return err
		}
	}
	return nil
}

// MarkStored releases requests after the transaction that saved them is committed.
func (r *Recorder) MarkStored(requests []runs.SentRequest) {
	r.storing.Lock()
	defer r.storing.Unlock()
	for _, sent := range requests {
		r.mu.Lock()
		delete(r.requests, sent.Step())
		r.mu.Unlock()
		for _, hash := range sent.Hashes() {
			r.stored[hash] = true
		}
	}
	dropBodies(r.messages, r.stored)
	dropBodies(r.tools, r.stored)
	dropBodies(r.system, r.stored)
}

// dropBodies keeps only the hashes of stored texts.
func dropBodies[K comparable](texts map[K]storage.ModelText, stored map[string]bool) {
	for key, text := range texts {
		if text.Body != "" && stored[text.Hash] {
			texts[key] = storage.ModelText{Hash: text.Hash}
		}
	}
}
