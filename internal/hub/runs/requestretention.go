package runs

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// eraseBatchSize is how many requests or texts are erased in one transaction.
	eraseBatchSize = 500
	// maxErasedTexts is how many texts of a session are erased in one round.
	maxErasedTexts = 50_000
)

// ForgetRequests erases the model requests of runs that ended before a time, and the texts
// that no request refers to any more. While a run of a session is in progress, none of the
// session's texts are erased; a later call that erases requests of the session checks them
// again. It uses several transactions, so other changes happen in between.
func (r *Runs) ForgetRequests(ctx context.Context, before shoal.Time) error {
	const op = "hub.Runs.ForgetRequests"
	affected := map[shoal.SessionID]bool{}
	for more := true; more; {
		var sessions []shoal.SessionID
		err := r.core.Change(ctx, op, storage.Global, func(ch *core.Change) (err error) {
			sessions, err = ch.DropRequests(before, eraseBatchSize)
			return err
		})
		if err != nil {
			return err
		}
		for _, session := range sessions {
			affected[session] = true
		}
		more = len(sessions) > 0
	}
	var failed error
	for session := range affected {
		failed = errors.Join(failed, core.Wrap(op, r.eraseUnusedTexts(ctx, session)))
	}
	return failed
}

// eraseOldRequests calls ForgetRequests for the requests whose retention has passed.
func (r *Runs) eraseOldRequests(ctx context.Context) error {
	return r.ForgetRequests(ctx, shoal.At(time.Now().Add(-r.keepRequests)))
}

// eraseUnusedTexts erases the texts of a session that no request refers to. A run in
// progress may be about to refer to any stored text, so nothing is erased while one is in
// progress, or if one was claimed since the texts were read.
func (r *Runs) eraseUnusedTexts(ctx context.Context, session shoal.SessionID) error {
	var claims int64
	var held bool
	var unused []string
	err := r.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if claims, held, err = tx.Claims(session); err != nil || held {
			return err
		}
		referenced, err := referencedTexts(tx, session)
		if err != nil {
			return err
		}
		unused, err = referenced.unusedTexts(tx, session)
		return err
	})
	if err != nil || held {
		return err
	}
	for some := range slices.Chunk(unused, eraseBatchSize) {
		changed := false
		err := r.core.Store.Update(ctx, storage.In(session), func(tx storage.Tx) error {
			now, held, err := tx.Claims(session)
			if changed = held || now != claims; err != nil || changed {
				return err
			}
			return tx.DropTexts(session, some)
		})
		if err != nil || changed {
			return err
		}
	}
	return nil
}

// textSet is a set of hashes of texts. It stores a short hash of each: in a collision, a
// text stays that could be erased.
type textSet struct {
	seed maphash.Seed
	in   map[uint64]struct{}
}

// add adds a hash and reports whether it is new.
func (s textSet) add(hash string) bool {
	short := maphash.String(s.seed, hash)
	_, known := s.in[short]
	s.in[short] = struct{}{}
	return !known
}

func (s textSet) has(hash string) bool {
	_, known := s.in[maphash.String(s.seed, hash)]
	return known
}

// referencedTexts returns all texts that the requests of a session refer to, directly or
// through lists.
func referencedTexts(tx Tx, session shoal.SessionID) (textSet, error) {
	referenced := textSet{maphash.MakeSeed(), map[uint64]struct{}{}}
	var groups [][]string // lists still to be read, by the number of levels below them
	for position, more := (storage.RequestPosition{}), true; more; {
		requests, last, err := tx.Requests(session, position, eraseBatchSize)
		if err != nil {
			return referenced, err
		}
		for _, r := range requests {
			referenced.add(r.System)
			referenced.add(r.Tools)
			for level, hashes := range r.Messages {
				for len(groups) <= level {
					groups = append(groups, nil)
				}
				for _, hash := range hashes {
					if referenced.add(hash) && level > 0 {
						groups[level] = append(groups[level], hash)
					}
				}
			}
		}
		position, more = last, len(requests) > 0
	}
	for level := len(groups) - 1; level > 0; level-- {
		for some := range slices.Chunk(groups[level], eraseBatchSize) {
			texts, err := tx.ModelTexts(session, some)
			if err != nil {
				return referenced, err
			}
			for _, text := range texts {
				for hash := range strings.SplitSeq(text, "\n") {
					if referenced.add(hash) && level > 1 {
						groups[level-1] = append(groups[level-1], hash)
					}
				}
			}
		}
	}
	return referenced, nil
}

// unusedTexts returns the texts of a session that are not in the set, at most
// maxErasedTexts.
func (s textSet) unusedTexts(tx Tx, session shoal.SessionID) (unused []string, err error) {
	for after, more := "", true; more && len(unused) < maxErasedTexts; {
		hashes, err := tx.TextHashes(session, after, eraseBatchSize)
		if err != nil {
			return nil, err
		}
		for _, hash := range hashes {
			after = hash
			if !s.has(hash) {
				unused = append(unused, hash)
			}
		}
		more = len(hashes) > 0
	}
	return unused, nil
}

// Start starts the task that erases model requests whose retention has passed.
func (r *Runs) Start() {
	if r.keepRequests > 0 {
		r.core.Go(func(ctx context.Context) { r.core.Repeat(ctx, time.Hour, "stored model requests", r.eraseOldRequests) })
	}
}
