package sqlstore

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Updating the search index costs more than the rest of a post, so it is done after the
// posts: soon when they pause, in bulk when they do not.
const (
	// indexDelay is how long posts have priority.
	indexDelay = 200 * time.Millisecond
	// indexRetry is how long the indexer waits after an error.
	indexRetry = 5 * time.Second
	// indexBatch limits the messages of one transaction, and so how long a post may wait
	// for it.
	indexBatch = 256
	// indexBacklog is how many messages searches may have to compare one by one. Beyond it
	// the index is updated even if posts have to wait, in larger batches, which cost less.
	indexBacklog    = 20_000
	indexBatchLarge = 1024
	// indexBatchShared is the limit where a change of everything must wait for the transaction
	// and does not wait long.
	indexBatchShared = 64
)

// runIndexer is the goroutine that updates the search index.
func (s *Store) runIndexer() {
	var end horizon
	for {
		select {
		case <-s.closing:
			return
		case <-s.indexable:
		}
		left := int64(1)
		for pause := indexDelay; left > 0; {
			select {
			case <-s.closing:
				return
			case <-time.After(pause):
			}
			left, pause = s.indexSome(&end, left)
		}
	}
}

// indexSome indexes the next messages. It returns how many are left, and how long to pause
// before the next call.
func (s *Store) indexSome(end *horizon, before int64) (left int64, pause time.Duration) {
	batch := indexBatch
	if before > indexBacklog {
		batch = indexBatchLarge
	}
	if len(s.lanes) > 0 {
		batch = indexBatchShared
	}
	left, added, err := s.indexNext(end, batch)
	switch {
	case errors.Is(err, errClosed):
		return before, 0 // the loop ends, too
	case err != nil:
		s.log.Warn("updating the search index failed; it will be tried again", "error", err)
		return before, indexRetry
	case added && (left > indexBacklog || s.waiting() == 0):
		return left, 0
	default:
		return left, indexDelay
	}
}

// indexNext indexes at most batch messages. left is how many the index lacks, added whether
// there were any that could be added.
func (s *Store) indexNext(end *horizon, batch int) (left int64, added bool, err error) {
	ctx := context.Background()
	if s.dialect.Writing == "" {
		end.safe = math.MaxInt64
	} else if err := s.View(ctx, end.advance); err != nil {
		return 0, false, err
	}
	if err := end.counted.update(ctx, s, end.next); err != nil {
		return 0, false, err
	}
	var part searchsql.Part
	err = s.View(ctx, func(t storage.Tx) (err error) {
		part, left, err = t.(*tx).NextPart(batch, end.safe)
		return err
	})
	if err != nil || len(part.Sessions) == 0 {
		return left, false, err
	}
	err = s.Update(ctx, storage.In(part.Sessions...), func(t storage.Tx) error { return t.(*tx).IndexPart(part) })
	return left, true, err
}

// horizon is the end of what can be indexed. Messages get their numbers before they are
// committed, and transactions in different sessions commit in any order: the index may only
// pass a number when no transaction can still store a message with a lower one.
type horizon struct {
	safe int64 // Views that begin now contain every message up to here that there will be

	next    int64    // safe, once these transactions have ended
	writing []string // the transactions that were changing the database when next was committed

	counted statistics
}

// advance moves the horizon. It must have a View of its own, which a View that reads messages
// up to the horizon follows: what had ended when advance read the transactions, the later View
// contains.
func (h *horizon) advance(t storage.Tx) error {
	c := t.(*tx).c
	// The messages first. A transaction with a lower number that has ended in between is
	// contained in the following View.
	last, err := sqlconn.Number(c, `SELECT MAX(doc) FROM messages`)
	if err != nil {
		return err
	}
	now, err := sqlconn.List(c, func(r *sqlconn.Rows) string { return r.Text(0) }, c.Dialect().Writing)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(h.writing, func(id string) bool { return slices.Contains(now, id) }) {
		h.safe, h.next, h.writing = h.next, last, now
		if len(now) == 0 {
			h.safe = last
		}
	}
	return nil
}
