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

// check returns an error about the first invalid field.
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

// reducer shortens the history for the model during one turn. It removes messages
// permanently and from the front: until the next reduction, the view grows only at its
// end.
type reducer struct {
	opts   Reduction
	model  Model // writes summaries
	window int   // of the agent's model
	tokens estimator

	text string // the summary; may be empty
	// summarized is the number of messages that text covers; covers is the number that
	// the view leaves out, which is greater if a summary could not be written.
	summarized, covers int
	// earlier is the number of messages of earlier turns; a reduction removes their
	// reasoning. thoughtless is the number of messages whose reasoning was removed,
	// including messages that are left out.
	earlier, thoughtless int
	// input is the index where this turn's input begins. A forced reduction may cut
	// there even if another input precedes it: that one has no answer.
	input   int
	changed bool // text and summarized differ from what is stored
	shown   bool // view was called
}

// newReducer returns a reducer that continues from the stored summary.
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

// view returns the part of history that the model is to see. Since the last call
// history may only have grown. did is nil unless this call shortened the view, or it is
// the first call and an earlier turn's reduction shortened it. force requires at most
// half of the tokens, whatever the strategy; did is nil if nothing can be left out. A
// view that is returned with an error is valid: it lacks the summary that could not be
// written.
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
		to = r.covers // a summary and the input that remains would not be shorter
	}
	if force && len(h.view(to, r.text)) >= len(view) {
		to = r.covers // the messages to remove are an input that remains
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

// reducedView returns the view of a history after the reductions so far.
func (r *reducer) reducedView(h *past) []Message {
	view := h.view(r.covers, r.text)
	if r.thoughtless <= r.covers {
		return view
	}
	return h.withoutThoughts(view, r.thoughtless)
}

// strategy returns the strategy of the next reduction; a forced one uses ReduceCount
// if no strategy is set.
func (r *reducer) strategy() ReductionStrategy {
	if r.opts.Strategy == ReduceNone {
		return ReduceCount
	}
	return r.opts.Strategy
}

// adopt uses a summary that is a message of the history, after a hard reduction, as
// this reducer's own.
func (r *reducer) adopt(h *past) {
	r.covers = min(r.covers, len(h.at))
	r.summarized = min(r.summarized, len(h.at))
	r.thoughtless = min(r.thoughtless, len(h.at))
	if at := h.lastSummary(); at >= r.covers {
		r.text, r.summarized, r.covers = summaryText(h.message(at)), at+1, at+1
	}
}

// due returns the number of messages to leave out now: the present number if no
// reduction is necessary or nothing can be removed.
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
		// Leave some room, so that the next message does not trigger another reduction.
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

// limit returns how many tokens a view may have, 0 for any number.
func (r *reducer) limit() int {
	limit := r.opts.MaxTokens
	if share := int(r.opts.Share * float64(r.window)); share > 0 && (limit == 0 || share < limit) {
		limit = share
	}
	return limit
}

// observed records how many tokens the provider counted for the messages of a view.
func (r *reducer) observed(u Usage, sent []Message) { r.tokens.observed(u, sent) }

// summary returns the summary to store at the turn's end, nil if it is stored
// already.
func (r *reducer) summary() *Summary {
	if !r.changed {
		return nil
	}
	return &Summary{Text: r.text, Covers: r.summarized, Thoughtless: r.thoughtless}
}
