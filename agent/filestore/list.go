package filestore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

var (
	_ agent.Lister  = (*Store)(nil)
	_ agent.Deleter = (*Store)(nil)
	_ agent.Expirer = (*Store)(nil)
)

// List implements [agent.Lister]. It reads every conversation that is not in memory.
func (s *Store) List(ctx context.Context, after agent.Listed, limit int) ([]agent.Listed, error) {
	all, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	return agent.PageOf(all, after, limit)
}

// Delete implements [agent.Deleter].
func (s *Store) Delete(ctx context.Context, conversation string) error {
	removed, err := s.remove(ctx, conversation, func(agent.Listed) bool { return true })
	if err == nil && !removed {
		return agent.NewError("filestore.Delete", agent.ErrNotFound, fmt.Sprintf("The store has no conversation %s.", conversation))
	}
	return err
}

// Expire implements [agent.Expirer]. It reads every conversation that is not in memory.
func (s *Store) Expire(ctx context.Context, before time.Time, limit int) (int, error) {
	all, err := s.all(ctx)
	if err != nil {
		return 0, err
	}
	return agent.ExpireIn(all, before, limit, func(id string, unused func(agent.Listed) bool) (bool, error) {
		return s.remove(ctx, id, unused)
	})
}

// all returns what a list says about each conversation, in any order. It fails if one of
// them cannot be read.
func (s *Store) all(ctx context.Context) ([]agent.Listed, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	var out []agent.Listed
	for _, f := range files {
		conversation, ok := conversationOf(f.Name())
		if !ok {
			continue
		}
		r, err := s.Load(ctx, conversation)
		switch {
		case err == nil:
			out = append(out, r.Listed())
		case !errors.Is(err, agent.ErrNotFound): // it may be deleted meanwhile
			return nil, err
		}
	}
	return out, nil
}

// conversationOf is the inverse of fileName; it reports false for other files.
func conversationOf(name string) (string, bool) {
	escaped, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", false
	}
	first, rest, _ := strings.Cut(escaped, "%")
	out := []byte(first)
	for piece := range strings.SplitSeq(rest, "%") {
		if rest == "" {
			break
		}
		b, err := hex.DecodeString(piece[:min(2, len(piece))])
		if err != nil || len(b) != 1 {
			return "", false
		}
		out = append(append(out, b...), piece[2:]...)
	}
	return string(out), len(out) > 0
}

// remove removes a conversation that exists, if the condition holds, and reports whether
// it did.
func (s *Store) remove(ctx context.Context, conversation string, condition func(agent.Listed) bool) (removed bool, err error) {
	err = s.with(ctx, conversation, func(j *journal) error {
		r, err := j.memory.Load(context.WithoutCancel(ctx), conversation)
		if errors.Is(err, agent.ErrNotFound) || err == nil && !condition(r.Listed()) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.check(s.erase(j)); err != nil {
			return err
		}
		removed = true
		return nil
	})
	return removed, err
}

// erase removes a journal's file, and what is in memory of it.
func (s *Store) erase(j *journal) error {
	if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	j.memory, j.offset, j.size, j.unnamed = agent.NewMemory(), 0, 0, true
	return syncDir(s.dir)
}
