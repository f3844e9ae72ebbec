// Package modeltexts finds the stored texts that models were sent and that no model request refers
// to any more.
package modeltexts

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx has the reads that the package needs from a transaction, see [storage.Tx].
type Tx interface {
	Requests(session shoal.SessionID, after storage.RequestPosition, limit int) ([]storage.Request, storage.RequestPosition, error)
	ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error)
	TextHashes(session shoal.SessionID, after string, limit int) ([]string, error)
}

const (
	// readAtOnce is how many requests or texts are read at once.
	readAtOnce = 500
	// maxUnused is how many hashes Unused returns.
	maxUnused = 50_000
)

// Unused returns the hashes of the texts of a session that none of its requests refers to, directly
// or through lists, at most 50,000. Some that could be returned may be missing.
func Unused(tx Tx, session shoal.SessionID) ([]string, error) {
	referenced, err := referencedTexts(tx, session)
	if err != nil {
		return nil, err
	}
	return referenced.unusedTexts(tx, session)
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
		requests, last, err := tx.Requests(session, position, readAtOnce)
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
		for some := range slices.Chunk(groups[level], readAtOnce) {
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
// maxUnused.
func (s textSet) unusedTexts(tx Tx, session shoal.SessionID) (unused []string, err error) {
	for after, more := "", true; more && len(unused) < maxUnused; {
		hashes, err := tx.TextHashes(session, after, readAtOnce)
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
