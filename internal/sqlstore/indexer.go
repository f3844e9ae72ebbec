package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
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
)

// runIndexer is the goroutine that updates the search index.
func (s *Store) runIndexer() {
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
			left, pause = s.indexNext(left)
		}
	}
}

// indexNext indexes the next messages. It returns how many are left, and how long to pause
// before the next call.
func (s *Store) indexNext(before int64) (left int64, pause time.Duration) {
	batch := indexBatch
	if before > indexBacklog {
		batch = indexBatchLarge
	}
	err := s.Update(context.Background(), storage.Global, func(t storage.Tx) (err error) {
		left, err = t.(*tx).UpdateIndex(batch)
		return err
	})
	switch {
	case errors.Is(err, errClosed):
		return before, 0 // the loop ends, too
	case err != nil:
		s.log.Warn("updating the search index failed; it will be tried again", "error", err)
		return before, indexRetry
	case left > indexBacklog || s.waiting() == 0:
		return left, 0
	default:
		return left, indexDelay
	}
}
