package agent

import (
	"context"
	"fmt"
	"slices"
	"sort"
)

// The defaults of [Reduction].
const (
	defaultTarget    = 20
	defaultThreshold = 5
)

// check reports fields that no reduction can have.
func (r Reduction) check() error {
	switch {
	case r.Strategy != "" && r.Strategy != ReduceNone && r.Strategy != ReduceCount && r.Strategy != ReduceSummary:
		return Invalid("reduction.strategy", fmt.Sprintf("is %q; it must be none, count or summary", r.Strategy))
	case r.Target < 0:
		return Invalid("reduction.target", "Must be greater than zero")
	case r.Threshold < 0:
		return Invalid("reduction.threshold", "must not be negative")
	case r.MaxTokens < 0:
		return Invalid("reduction.maxTokens", "must not be negative")
	case r.Share < 0 || r.Share > 1:
		return Invalid("reduction.share", "must be between 0 and 1")
	}
	return nil
}

// reducer makes the history shorter for the model, during one turn. What it drops
// it drops for good, from the front: the view grows only at its end until the
// next reduction.
type reducer struct {
	opts   Reduction
	model  Model // writes summaries
	window int   // of the agent's model
	tokens estimator

	text string // the summary; may be empty
	// told is how many messages text covers; covers is how many are left out of
	// the view, which is more after a summary could not be written.
	summarized, covers int
	// earlier is how many messages are of turns before this one; a reduction drops
	// their thoughts. thoughtless is how many have lost theirs, dropped or kept.
	earlier, thoughtless int
	// input is where this turn's input begins. A forced reduction may cut there also
	// where inputs follow each other: those before had no answer.
	input   int
	changed bool // text and told differ from what is stored
	shown   bool // the first view was made
}

// newReducer returns a reducer that goes on from the stored summary.
func newReducer(opts Reduction, model Model, summary *Summary) *reducer {
	r := &reducer{opts: opts, model: opts.Summarizer}
	if model != nil {
		r.window = model.Info().Window
	}
	if r.model == nil {
		r.model = model
	}
	if r.opts.Strategy == "" {
		r.opts.Strategy = ReduceNone
	}
	if r.opts.Target == 0 {
		r.opts.Target = defaultTarget
	}
	if r.opts.Threshold == 0 {
		r.opts.Threshold = defaultThreshold
	}
	if r.opts.Prompt == "" {
		r.opts.Prompt = defaultSummaryPrompt
	}
	if summary != nil {
		r.text, r.summarized, r.covers = summary.Text, summary.Covers, summary.Covers
		r.thoughtless = summary.Thoughtless
	}
	return r
}

// view returns what the model is to see of history, which has only grown since
// the last call. did is nil unless the view became shorter, or is shorter by an
// earlier turn's reduction and this is the first view. force asks for at most
// half of the tokens, whatever the strategy; did is nil if nothing can go. A view that comes with an error is
// good: it lacks the summary that could not be written.
func (r *reducer) view(ctx context.Context, history []Message, force bool) (view []Message, did *Reduced, err error) {
	first := !r.shown
	r.shown = true
	if r.opts.Strategy == ReduceNone && !force && r.covers == 0 {
		return history[:len(history):len(history)], nil, nil
	}
	h := newPast(history)
	r.adopt(h)
	view = r.reducedView(h)
	to := r.due(h, view, force)
	if !force && r.limit() == 0 && len(h.view(to, "…")) >= len(view) {
		to = r.covers // a summary and the input that stays would be no shorter
	}
	if force && len(h.view(to, r.text)) >= len(view) {
		to = r.covers // what would go is an input that stays
	}
	if to <= r.covers {
		if first && len(view) < len(history) {
			did = &Reduced{Strategy: r.strategy(), Before: len(history), After: len(view), Cached: r.text != ""}
		}
		return view, did, nil
	}
	did = &Reduced{Strategy: r.strategy(), Before: len(history), Forced: force}
	if did.Strategy == ReduceSummary {
		text, failed := r.summarize(ctx, h.text(r.summarized, to), did)
		if failed != nil {
			did.Strategy, err = ReduceCount, failed
		} else {
			r.text, r.summarized, r.changed = text, to, true
		}
	} else {
		r.summarized, r.changed = to, true
	}
	r.covers, r.thoughtless = to, max(r.thoughtless, r.earlier)
	view = r.reducedView(h)
	did.After = len(view)
	return view, did, err
}

// reducedView returns the view of a history that is reduced so far.
func (r *reducer) reducedView(h *past) []Message {
	view := h.view(r.covers, r.text)
	if r.thoughtless <= r.covers {
		return view
	}
	return h.withoutThoughts(view, r.thoughtless)
}

// strategy is how the next reduction is made; a forced one of none counts.
func (r *reducer) strategy() ReductionStrategy {
	if r.opts.Strategy == ReduceNone {
		return ReduceCount
	}
	return r.opts.Strategy
}

// adopt takes a summary that stands in the history itself, after a hard
// reduction, as this reducer's own.
func (r *reducer) adopt(h *past) {
	r.covers = min(r.covers, len(h.at))
	r.summarized = min(r.summarized, len(h.at))
	r.thoughtless = min(r.thoughtless, len(h.at))
	if at := h.lastSummary(); at >= r.covers {
		r.text, r.summarized, r.covers = summaryText(h.message(at)), at+1, at+1
	}
}

// due returns how many messages are to be left out now: what already is, if there
// is no need, or nothing that could go.
func (r *reducer) due(h *past, view []Message, force bool) int {
	target := len(h.at) - r.covers
	limit := r.limit()
	used := 0
	if limit > 0 || force {
		used = r.tokens.estimate(view)
	}
	if r.opts.Strategy != ReduceNone && target > r.opts.Target+r.opts.Threshold {
		target = r.opts.Target
	}
	goal := 0
	switch {
	case force:
		goal = used / 2
	case r.opts.Strategy == ReduceNone:
		return r.covers
	case limit > 0 && used > limit:
		// Some room, or the very next message would make another reduction.
		goal = limit - limit/3
	}
	to := h.lastCut(r.covers, len(h.at)-target)
	if goal == 0 {
		return to
	}
	fits := func(cut int) bool { return r.tokens.estimate(h.view(cut, r.text)) <= goal }
	cuts := h.cuts(to)
	if at, found := slices.BinarySearch(cuts, r.input); force && !found && r.input > to && r.input < len(h.at) {
		cuts = slices.Insert(cuts, at, r.input)
	}
	if len(cuts) == 0 || to > r.covers && fits(to) {
		return to
	}
	i := sort.Search(len(cuts), func(i int) bool { return fits(cuts[i]) })
	return cuts[min(i, len(cuts)-1)]
}

// limit is how many tokens a view may have, 0 for any number.
func (r *reducer) limit() int {
	limit := r.opts.MaxTokens
	if share := int(r.opts.Share * float64(r.window)); share > 0 && (limit == 0 || share < limit) {
		limit = share
	}
	return limit
}

// observed tells how many tokens the provider counted for the messages of a view.
func (r *reducer) observed(u Usage, sent []Message) { r.tokens.observed(u, sent) }

// summary returns what is to be stored at the turn's end, nil if that is stored
// already.
func (r *reducer) summary() *Summary {
	if !r.changed {
		return nil
	}
	return &Summary{Text: r.text, Covers: r.summarized, Thoughtless: r.thoughtless}
}
