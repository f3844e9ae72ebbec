package sqlstore

import "time"

// shortBatch is how long the Updates of a batch may take, before the others are left to the next
// one: what comes meanwhile waits for both. If a commit takes longer, they may take as long.
const shortBatch = 10 * time.Millisecond

// isLong reports whether the batch should end before its Update i, as the ones before have taken
// so long. As many Updates as callers wait are written in any case. So a caller with many at
// once makes nobody wait for a long batch, and batches remain as large as they can be where each
// caller has few.
func (l *lane) isLong(i int, took time.Duration) bool {
	return i >= max(1, l.waitingCallers) && took > max(shortBatch, l.commitTime)
}

// endBatch returns the Updates of the batch from i on to the queue, which keep their turns.
func (l *lane) endBatch(i int) {
	l.queue.putBack(l.batch[i:])
	clear(l.batch[i:])
	l.batch = l.batch[:i]
}
