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
	// forgetAtOnce is how many requests or texts are erased in one transaction.
	forgetAtOnce = 500
	// forgetMost is how many texts of a session are erased in one round.
	forgetMost = 50_000
)

// ForgetRequests erases what models were sent for runs that ended before a time, and
// the texts that nothing leads to any more; some of these stay for as long as a run
// of their session is in progress, and are looked at again with the next that is
// erased. Others change the store in between.
func (r *Runs) ForgetRequests(ctx context.Context, before shoal.Time) error {
	const op = "hub.Runs.ForgetRequests"
	lost := map[shoal.SessionID]bool{}
	for more := true; more; {
		var sessions []shoal.SessionID
		err := r.core.Change(ctx, op, func(ch *core.Change) (err error) {
			sessions, err = ch.DropRequests(before, forgetAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, session := range sessions {
			lost[session] = true
		}
		more = len(sessions) > 0
	}
	var failed error
	for session := range lost {
		failed = errors.Join(failed, core.Wrap(op, r.forgetTexts(ctx, session)))
	}
	return failed
}

// forgetRequests is ForgetRequests of what has been kept for long enough.
func (r *Runs) forgetRequests(ctx context.Context) error {
	return r.ForgetRequests(ctx, shoal.At(time.Now().Add(-r.keepRequests)))
}

// forgetTexts erases the texts of a session that no request leads to. A run in
// progress may be about to refer to any that is kept, so nothing is erased then, nor
// when one was in progress since the texts were looked at.
func (r *Runs) forgetTexts(ctx context.Context, session shoal.SessionID) error {
	var claims int64
	var held bool
	var idle []string
	err := r.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if claims, held, err = tx.Claims(session); err != nil || held {
			return err
		}
		needed, err := neededTexts(tx, session)
		if err != nil {
			return err
		}
		idle, err = needed.others(tx, session)
		return err
	})
	if err != nil || held {
		return err
	}
	for some := range slices.Chunk(idle, forgetAtOnce) {
		changed := false
		err := r.core.Store.Update(ctx, func(tx storage.Tx) error {
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

// textSet is a set of hashes, of which it keeps a hash only: where two are taken for
// one, a text stays that could go.
type textSet struct {
	seed maphash.Seed
	in   map[uint64]struct{}
}

// add reports whether the hash is new.
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

// neededTexts returns all texts that the requests of a session lead to.
func neededTexts(tx Tx, session shoal.SessionID) (textSet, error) {
	needed := textSet{maphash.MakeSeed(), map[uint64]struct{}{}}
	var groups [][]string // that are still to be looked into, by how many levels they lead down
	for place, more := (storage.RequestPlace{}), true; more; {
		requests, last, err := tx.Requests(session, place, forgetAtOnce)
		if err != nil {
			return needed, err
		}
		for _, r := range requests {
			needed.add(r.System)
			needed.add(r.Tools)
			for level, hashes := range r.Messages {
				for len(groups) <= level {
					groups = append(groups, nil)
				}
				for _, hash := range hashes {
					if needed.add(hash) && level > 0 {
						groups[level] = append(groups[level], hash)
					}
				}
			}
		}
		place, more = last, len(requests) > 0
	}
	for level := len(groups) - 1; level > 0; level-- {
		for some := range slices.Chunk(groups[level], forgetAtOnce) {
			texts, err := tx.ModelTexts(session, some)
			if err != nil {
				return needed, err
			}
			for _, text := range texts {
				for hash := range strings.SplitSeq(text, "\n") {
					if needed.add(hash) && level > 1 {
						groups[level-1] = append(groups[level-1], hash)
					}
				}
			}
		}
	}
	return needed, nil
}

// others returns the texts of a session that are not in the set, forgetMost at most.
func (s textSet) others(tx Tx, session shoal.SessionID) (idle []string, err error) {
	for after, more := "", true; more && len(idle) < forgetMost; {
		hashes, err := tx.TextHashes(session, after, forgetAtOnce)
		if err != nil {
			return nil, err
		}
		for _, hash := range hashes {
			after = hash
			if !s.has(hash) {
				idle = append(idle, hash)
			}
		}
		more = len(hashes) > 0
	}
	return idle, nil
}

// Start starts the task that erases the requests that were kept for long enough.
func (r *Runs) Start() {
	if r.keepRequests > 0 {
		r.core.Go(func(ctx context.Context) { r.core.Repeat(ctx, time.Hour, "stored model requests", r.forgetRequests) })
	}
}
