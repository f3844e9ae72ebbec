// Package sweep erases the copies of texts in what agents and the server have stored of a session.
package sweep

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/copies"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// batch is how many rows one transaction reads, and changes at most.
const batch = 50

// Sweep is one pass over the rows of a session.
type Sweep struct {
	Core    *core.Core
	Op      string // for errors
	Session shoal.SessionID
	Scope   storage.TraceScope
	// Texts and Person are what is erased; Person may be nil.
	Texts  *copies.Index
	Person *copies.Eraser
	// Store stores a row without copies, or does not.
	Store func(ch *core.Change, row storage.Trace) error
}

// Run erases the copies. It uses several transactions, so other changes happen in between; after an
// error what was read before it is done.
func (s Sweep) Run(ctx context.Context) error {
	for at := (storage.TracePosition{}); ; {
		var page []storage.Trace
		if err := s.Core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, err = tx.Traces(s.Session, s.Scope, at, batch)
			return err
		}); err != nil || len(page) == 0 {
			return err
		}
		if s.hasCopy(page) {
			if err := s.Core.Change(ctx, s.Op, storage.In(s.Session), func(ch *core.Change) error { return s.erasePage(ch, at) }); err != nil {
				return err
			}
		}
		at = page[len(page)-1].At
	}
}

func (s Sweep) hasCopy(page []storage.Trace) bool {
	for _, row := range page {
		for _, text := range row.Texts {
			if s.Texts.Erase(text, s.Person) != text {
				return true
			}
		}
	}
	return false
}

// erasePage erases the copies in the rows after a position.
func (s Sweep) erasePage(ch *core.Change, at storage.TracePosition) error {
	page, err := ch.Traces(s.Session, s.Scope, at, batch)
	if err != nil {
		return err
	}
	for _, row := range page {
		changed := false
		for i, text := range row.Texts {
			row.Texts[i] = s.Texts.Erase(text, s.Person)
			changed = changed || row.Texts[i] != text
		}
		if !changed {
			continue
		}
		if err := s.Store(ch, row); err != nil {
			return err
		}
	}
	return nil
}
