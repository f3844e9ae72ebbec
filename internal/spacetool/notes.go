package spacetool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// Limits of what an agent notes for itself, and of what one answer shows of it.
const (
	maxItems    = 50  // in one call
	maxShown    = 50  // of what there is now
	maxNoteText = 200 // characters of a candidate
)

// notes are the goals, the memories or the plans of an agent: what a set and a
// delete tool have in common.
type notes[T any] struct {
	word  string // goals
	limit int
	list  func(c *runs.RunChange) ([]T, error) // the items that match searches, in the order of creation
	id    func(T) string
	text  func(T) string // the text that match searches
	drop  func(c *runs.RunChange, item T) error
	order func(a, b T) int // in which a model sees them; nil: the order of creation
}

// change is one entry of a call that sets notes. grant stores a new item, or the old one
// changed, and returns it.
type change[T any] struct {
	match string
	grant func(c *runs.RunChange, old *T) (T, error)
}

// candidate is one of several items that a match fits.
type candidate struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// outcome says what became of one entry: created, updated, not_found or ambiguous.
type outcome struct {
	Status     string      `json:"status"`
	Match      string      `json:"match,omitempty"`
	ID         string      `json:"id,omitempty"`
	NextRunAt  *shoal.Time `json:"nextRunAt,omitempty"`
	Candidates []candidate `json:"candidates,omitempty"`
}

// setResult is what a call that sets answers. Current is cut off at [maxShown].
type setResult[T any] struct {
	Modified []outcome `json:"modified"`
	Current  []T       `json:"current"`
	Total    int       `json:"total"`
}

// ambiguity is a match that fits several items.
type ambiguity struct {
	Match      string      `json:"match"`
	Candidates []candidate `json:"candidates"`
}

// deleteResult is what a call that deletes answers.
type deleteResult struct {
	Deleted   []candidate `json:"deleted"`
	Ambiguous []ambiguity `json:"ambiguous"`
	NotFound  []string    `json:"notFound"`
	Remaining int         `json:"remaining"`
}

// find returns the items that a match fits: the one with that id, else those whose
// text contains it, without regard to case.
func (n notes[T]) find(items []T, match string) []T {
	if i := slices.IndexFunc(items, func(t T) bool { return n.id(t) == match }); i >= 0 {
		return items[i : i+1 : i+1]
	}
	var hits []T
	for _, item := range items {
		if strings.Contains(strings.ToLower(n.text(item)), strings.ToLower(match)) {
			hits = append(hits, item)
		}
	}
	return hits
}

func (n notes[T]) candidates(items []T) []candidate {
	out := make([]candidate, 0, min(len(items), maxShown))
	for _, item := range items[:min(len(items), maxShown)] {
		out = append(out, candidate{n.id(item), cut(n.text(item), maxNoteText)})
	}
	return out
}

// set makes all changes in one transaction, or none of them.
func (n notes[T]) set(ctx context.Context, r *Run, changes []change[T], clearExisting bool) (any, error) {
	if err := n.checkChanges(changes, clearExisting); err != nil {
		return nil, err
	}
	var out setResult[T]
	err := r.write(ctx, func(c *runs.RunChange) error {
		items, err := n.list(c)
		if err != nil {
			return err
		}
		if clearExisting {
			for _, item := range items {
				if err := n.drop(c, item); err != nil {
					return err
				}
			}
			items = nil
		}
		out = setResult[T]{Modified: []outcome{}}
		for i, w := range changes {
			var did outcome
			if items, did, err = n.grant(c, items, w); err != nil {
				return inEntry(n.word, i, err)
			}
			out.Modified = append(out.Modified, did)
		}
		if len(items) > n.limit {
			return shoal.Invalid(n.word, fmt.Sprintf("would be %d; you can have at most %d: delete some first", len(items), n.limit))
		}
		out.Total, out.Current = len(items), n.shown(items)
		return nil
	})
	return out, err
}

func (n notes[T]) checkChanges(changes []change[T], clearExisting bool) error {
	if len(changes) > maxItems {
		return shoal.Invalid(n.word, fmt.Sprintf("has %d entries; at most %d are allowed in one call", len(changes), maxItems))
	}
	if len(changes) == 0 && !clearExisting {
		return shoal.Invalid(n.word, "is empty: give at least one entry")
	}
	for i, w := range changes {
		if w.match != "" && clearExisting {
			return shoal.Invalid(fmt.Sprintf("%s[%d].match", n.word, i), "has nothing to fit when clearExisting is true: leave it out, or leave out clearExisting")
		}
	}
	return nil
}

// grant creates or changes one item, unless its match fits none or several.
func (n notes[T]) grant(c *runs.RunChange, items []T, w change[T]) ([]T, outcome, error) {
	did := outcome{Status: "created", Match: w.match}
	var old *T
	if w.match != "" {
		switch hits := n.find(items, w.match); len(hits) {
		case 0:
			did.Status = "not_found"
			return items, did, nil
		case 1:
			did.Status, old = "updated", &hits[0]
		default:
			did.Status, did.Candidates = "ambiguous", n.candidates(hits)
			return items, did, nil
		}
	}
	item, err := w.grant(c, old)
	if err != nil {
		return items, did, err
	}
	did.ID = n.id(item)
	if p, ok := any(item).(shoal.Plan); ok {
		did.NextRunAt = p.NextRunAt
	}
	if old == nil {
		return append(items, item), did, nil
	}
	items = slices.Clone(items)
	items[slices.IndexFunc(items, func(t T) bool { return n.id(t) == did.ID })] = item
	return items, did, nil
}

func (n notes[T]) shown(items []T) []T {
	out := slices.Clone(items)
	if n.order != nil {
		slices.SortStableFunc(out, n.order)
	}
	if out == nil {
		out = []T{}
	}
	return out[:min(len(out), maxShown)]
}

// remove deletes, in one transaction, what each match fits alone; or everything that
// among keeps, if all is set. among may be nil.
func (n notes[T]) remove(ctx context.Context, r *Run, matches []string, all bool, among func(T) bool) (any, error) {
	switch {
	case len(matches) > maxItems:
		return nil, shoal.Invalid("matches", fmt.Sprintf("has %d entries; at most %d are allowed in one call", len(matches), maxItems))
	case len(matches) == 0 && !all:
		return nil, shoal.Invalid("matches", "is empty: say what to delete by a piece of its text, or set deleteAll to true")
	case slices.ContainsFunc(matches, func(m string) bool { return strings.TrimSpace(m) == "" }):
		return nil, shoal.Invalid("matches", "has an empty entry, which would fit everything; set deleteAll to true if you mean that")
	}
	var out deleteResult
	err := r.write(ctx, func(c *runs.RunChange) error {
		items, err := n.list(c)
		if err != nil {
			return err
		}
		out = deleteResult{Deleted: []candidate{}, Ambiguous: []ambiguity{}, NotFound: []string{}}
		gone := n.choose(&out, slices.DeleteFunc(slices.Clone(items), func(t T) bool { return among != nil && !among(t) }), matches, all)
		for _, item := range gone {
			if err := n.drop(c, item); err != nil {
				return err
			}
		}
		out.Deleted, out.Remaining = append(out.Deleted, n.candidates(gone)...), len(items)-len(gone)
		return nil
	})
	return out, err
}

// choose returns the items to delete, each once, and notes the matches that fit none
// or several.
func (n notes[T]) choose(out *deleteResult, items []T, matches []string, all bool) []T {
	if all {
		return items
	}
	var gone []T
	for _, match := range matches {
		switch hits := n.find(items, match); {
		case len(hits) == 0:
			out.NotFound = append(out.NotFound, match)
		case len(hits) > 1:
			out.Ambiguous = append(out.Ambiguous, ambiguity{match, n.candidates(hits)})
		case !slices.ContainsFunc(gone, func(t T) bool { return n.id(t) == n.id(hits[0]) }):
			gone = append(gone, hits[0])
		}
	}
	return gone
}

// inEntry says in which entry of a call a mistake is.
func inEntry(word string, i int, err error) error {
	if text, ok := forModel(err); ok {
		return shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%s[%d]: %s", word, i, strings.TrimPrefix(text, "Error: ")))
	}
	return err
}
