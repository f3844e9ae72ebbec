package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/search"
)

// Feeding the index costs more than all the rest of a post, so it happens behind
// the posts: soon when they pause, in bulk when they do not.
const (
	// indexDelay is how long posts go first.
	indexDelay = 200 * time.Millisecond
	// indexRetry is how long the indexer waits after an error.
	indexRetry = 5 * time.Second
	// indexBatch and indexBytes bound what one transaction indexes, and so how
	// long a post may wait for it.
	indexBatch = 256
	indexBytes = 1 << 20
	// indexBacklog is how many messages may be left to searches. Beyond it the
	// index is fed even if posts have to wait, in larger batches, which cost less.
	indexBacklog    = 20_000
	indexBatchLarge = 1024
)

// index is the goroutine that feeds the search index.
func (s *Store) index() {
	defer s.running.Done()
	for {
		select {
		case <-s.closing:
			return
		case <-s.posted:
		}
		left := int64(1)
		for pause := indexDelay; left > 0; {
			select {
			case <-s.closing:
				return
			case <-time.After(pause):
			}
			left, pause = s.indexNext(left)
		}
	}
}

// indexNext indexes the next of the messages that are left. It returns how many
// are left then, and how long to pause before it goes on.
func (s *Store) indexNext(before int64) (left int64, pause time.Duration) {
	batch := indexBatch
	if before > indexBacklog {
		batch = indexBatchLarge
	}
	err := s.Update(context.Background(), func(t hub.Tx) (err error) {
		left, err = t.(tx).indexSome(batch)
		return err
	})
	switch {
	case errors.Is(err, errClosed):
		return before, 0 // the loop sees it, too
	case err != nil:
		s.log.Warn("the search index could not be fed; it will be tried again", "error", err)
		return before, indexRetry
	case left > indexBacklog || len(s.queue) == 0:
		return left, 0
	default:
		return left, indexDelay
	}
}

// indexSome feeds the index with the next messages, batch at most, and returns
// how many are left.
func (t tx) indexSome(batch int) (left int64, err error) {
	added := postings{}
	if err := t.indexLate(added, batch); err != nil {
		return 0, err
	}
	indexed, err := number(t.c, `SELECT indexed FROM store`)
	if err != nil {
		return 0, err
	}
	fresh, err := t.wordies(batch, `SELECT `+wordyColumns+` FROM messages AS m WHERE m.doc > $1 ORDER BY m.doc`+upTo(batch), indexed)
	if err != nil {
		return 0, err
	}
	for _, f := range fresh {
		added.add(f) // when one that is open is closed, it is late
		indexed = f.doc
	}
	if err := t.write(added); err != nil {
		return 0, err
	}
	if len(fresh) > 0 {
		if _, err := t.c.exec(`UPDATE store SET indexed = $1`, indexed); err != nil {
			return 0, err
		}
	}
	return number(t.c, `SELECT COALESCE((SELECT MAX(doc) FROM messages), $1) - $1 + (SELECT COUNT(*) FROM late)`, indexed)
}

// indexLate adds messages that the index has passed. Words that they had before
// stay in it: who searches compares.
func (t tx) indexLate(added postings, batch int) error {
	late, err := t.wordies(batch, `SELECT `+wordyColumns+` FROM late AS l CROSS JOIN messages AS m WHERE m.doc = l.doc ORDER BY l.doc`+upTo(batch))
	if err != nil {
		return err
	}
	for _, l := range late {
		added.add(l)
		if _, err := t.c.exec(`DELETE FROM late WHERE doc = $1`, l.doc); err != nil {
			return err
		}
	}
	return nil
}

// wordy is a message as the index takes it.
type wordy struct {
	doc      int64
	document search.Document
	open     bool
}

const wordyColumns = `m.doc, ` + senderKind + `, m.session_id, m.space_id, ` + messageColumns

// senderKind is the kind of the sender of a message, NULL for the system.
const senderKind = `(SELECT e.kind FROM entities AS e WHERE e.session_id = m.session_id AND e.id = m.entity_id)`

// wordies returns the next messages that a query chooses, batch at most.
func (t tx) wordies(batch int, query string, args ...any) ([]wordy, error) {
	r, err := t.c.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer r.close() //nolint:errcheck // as in list
	var fresh []wordy
	for size := 0; size < indexBytes && len(fresh) < batch && r.next(); {
		m := messageOf(r, 4, shoal.SessionID(r.text(2)), shoal.SpaceID(r.text(3)))
		for _, p := range m.Parts {
			size += len(p.Text)
		}
		fresh = append(fresh, wordy{
			doc: r.int(0), document: search.Document{Message: m, Kind: shoal.EntityKind(r.text(1))}, open: m.Status == shoal.MessageStreaming,
		})
	}
	return fresh, r.close()
}
