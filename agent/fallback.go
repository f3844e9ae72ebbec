package agent

import (
	"context"
	"fmt"
	"iter"
)

// Fallback returns a model that calls first and, while it fails, the others in their order.
//
// An agent calls the next model at once, as another attempt of the same step, after a
// failure that another model may not have: [ClassRateLimited], [ClassOverloaded],
// [ClassNetwork], [ClassTimeout], [ClassMalformed], [ClassQuota] and
// [ClassContextOverflow], after which models with a window that is known to be no larger
// are left out. Other failures end the turn, as they do with one model: a key that is
// refused must not go unnoticed. The events are those of a retry: [MessageEnded] with
// Discarded withdraws what the failed model has said, [ModelRetrying] names its failure,
// and [ModelCallStarted] names the next model. So an answer that breaks off in the middle
// is never continued by another model, and no text appears twice. The options
// AttemptTimeout and StallTimeout hold for each call.
//
// Once every model has failed, the rules of [Retry] apply, and the next attempt begins with
// the first model again. The calls of the other models do not count towards Retry.Attempts.
// If the history was too long for every model, it is shortened for the last one. A model
// that has answered is called first for the rest of the turn, so that its prompt cache is
// used; the next turn begins with first.
//
// The model that answered is the one that is billed and traced. [New] refuses
// Options.MaxCost if Options.Price does not know one of the models. Info is that of first,
// and so is the window that Reduction.Share refers to. A Fallback among the models counts
// as its models.
//
// Outside of an agent, and within a model that wraps it, Stream calls the next model only
// if the one before has failed before its first chunk. To limit the rate of a model or to
// wrap it otherwise, wrap the models rather than the Fallback.
func Fallback(first Model, others ...Model) Model {
	f := &fallback{}
	for _, m := range append([]Model{first}, others...) {
		f.models = append(f.models, modelsOf(m)...)
	}
	return f
}

// fallback is the model that [Fallback] returns.
type fallback struct{ models []Model }

// modelsOf returns the models that m consists of.
func modelsOf(m Model) []Model {
	if f, ok := m.(*fallback); ok {
		return f.models
	}
	return []Model{m}
}

func (f *fallback) Info() ModelInfo {
	if f.models[0] == nil {
		return ModelInfo{}
	}
	return f.models[0].Info()
}

func (f *fallback) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for i, m := range f.models {
			if m == nil {
				yield(Chunk{}, Invalid(fmt.Sprintf("Fallback: model %d", i+1), "is nil"))
				return
			}
			if err := f.streamOne(ctx, m, req, yield); err == nil {
				return
			} else if i == len(f.models)-1 || ctx.Err() != nil || !classOf(err).fallsBack() {
				yield(Chunk{}, err)
				return
			}
		}
	}
}

// streamOne yields the answer of one model. It returns the error of a model that has not
// begun to answer, which it does not yield.
func (f *fallback) streamOne(ctx context.Context, m Model, req *Request, yield func(Chunk, error) bool) error {
	var info *ModelInfo
	begun := false
	for c, err := range m.Stream(ctx, req) {
		if err != nil && !begun {
			return err
		}
		begun = true
		if c.Model == nil && (c.Kind == ChunkUsage || c.Kind == ChunkFinish) {
			if info == nil {
				named := m.Info()
				info = &named
			}
			c.Model = info
		}
		if !yield(c, err) {
			return nil
		}
	}
	return nil
}
