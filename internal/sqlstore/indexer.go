package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
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
	if err := t.indexLate(batch); err != nil {
		return 0, err
	}
	indexed, err := number(t.c, `SELECT indexed FROM store`)
	if err != nil {
		return 0, err
	}
	fresh, err := t.wordies(batch, `SELECT m.doc, `+messageColumns+` FROM messages AS m WHERE m.doc > $1 ORDER BY m.doc`+upTo(batch), indexed)
	if err != nil {
		return 0, err
	}
	for _, f := range fresh {
		indexed = f.doc
		if f.open {
			continue // when it is closed, it is late
		}
		if _, err := t.c.exec(t.c.dialect.insertWords, f.doc, f.words); err != nil {
			return 0, err
		}
	}
	if len(fresh) > 0 {
		if _, err := t.c.exec(`UPDATE store SET indexed = $1`, indexed); err != nil {
			return 0, err
		}
	}
	return number(t.c, `SELECT COALESCE((SELECT MAX(doc) FROM messages), $1) - $1 + (SELECT COUNT(*) FROM late)`, indexed)
}

// indexLate feeds the index with messages that it has passed. Their words replace
// those that it may have.
func (t tx) indexLate(batch int) error {
	late, err := t.wordies(batch, `SELECT m.doc, `+messageColumns+` FROM late AS l CROSS JOIN messages AS m WHERE m.doc = l.doc ORDER BY l.doc`+upTo(batch))
	if err != nil {
		return err
	}
	for _, l := range late {
		if _, err := t.c.exec(`DELETE FROM search WHERE rowid = $1`, l.doc); err != nil {
			return err
		}
		if !l.open {
			if _, err := t.c.exec(t.c.dialect.insertWords, l.doc, l.words); err != nil {
				return err
			}
		}
		if _, err := t.c.exec(`DELETE FROM late WHERE doc = $1`, l.doc); err != nil {
			return err
		}
	}
	return nil
}

// wordy is a message as the index takes it: its words, with spaces between. One
// that is still open has none yet.
type wordy struct {
	doc   int64
	words string
	open  bool
}

// wordies returns the next messages that a query chooses, batch at most.
func (t tx) wordies(batch int, query string, args ...any) ([]wordy, error) {
	r, err := t.c.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer r.close() //nolint:errcheck // as in list
	var fresh []wordy
	for size := 0; size < indexBytes && len(fresh) < batch && r.next(); {
		m := messageOf(r, 1, "", "")
		if m.Status == shoal.MessageStreaming {
			fresh = append(fresh, wordy{doc: r.int(0), open: true})
			continue
		}
		var line []byte
		words(m.Text(), func(word []byte) bool {
			if len(line) > 0 {
				line = append(line, ' ')
			}
			line = append(line, word...)
			return true
		})
		size += len(line)
		fresh = append(fresh, wordy{doc: r.int(0), words: string(line)})
	}
	return fresh, r.close()
}
