// Package filestore keeps conversations in a directory, for programs that have
// no server:
//
//	store, err := filestore.Open("conversations")
//	…
//	defer store.Close()
//	c := agent.OpenConversation(store, "cnv_support_42")
//
// Each conversation is a journal, one file of JSON lines: a write is one line,
// appended and synced to the disk before the method returns. A last line that a
// crash cut short was never acknowledged and is dropped when the conversation is
// read again; damage anywhere else is an error, never a shorter history. Replace
// writes the journal anew, beside the old one, and renames it.
//
// One process at a time has a directory open. What was used last stays in memory, up to
// 256 conversations and 16 MiB of journals beside those in use; the others are read again
// when they are needed. When the disk refuses a write the store is broken:
// every method returns that error until the directory is opened again.
package filestore

import (
	"container/list"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

// Store is an [agent.Store] in a directory.
type Store struct {
	dir  string
	lock *os.File

	mu       sync.Mutex
	journals map[string]*journal // those in use, and some of the others
	idle     list.List           // of the *journal that nobody uses, the last used first
	idleSize int64
	broken   error
	underWay sync.WaitGroup // calls that found the store open
}

var _ agent.Store = (*Store)(nil)

// Open opens the directory, which is made if it is not there. ErrConflict when
// another process, or another Store of this one, has it open.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, lock: lock, journals: map[string]*journal{}}
	// What a crash left of a Replace was never part of anything.
	left, err := filepath.Glob(filepath.Join(dir, "*"+newSuffix))
	for _, name := range left {
		if err == nil {
			err = os.Remove(name)
		}
	}
	if err != nil {
		_ = unlockFile(lock)
		return nil, fmt.Errorf("filestore: %w", err)
	}
	return s, nil
}

// Close gives the directory free, after the writes that are under way. Every
// method fails from then on.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.lock == nil {
		s.mu.Unlock()
		return nil
	}
	lock := s.lock
	s.lock = nil
	if s.broken == nil {
		s.broken = agent.NewError("filestore", agent.ErrInternal, "The store was closed; open it again.")
	}
	s.mu.Unlock()
	s.underWay.Wait()
	return unlockFile(lock)
}

// Load implements [agent.Store].
func (s *Store) Load(ctx context.Context, conversation string) (agent.Record, error) {
	var r agent.Record
	err := s.with(ctx, conversation, func(j *journal) error {
		var err error
		r, err = j.memory.Load(ctx, conversation)
		r.Revision += j.offset
		return err
	})
	return r, err
}

// Begin implements [agent.Store].
func (s *Store) Begin(ctx context.Context, conversation string, turn agent.Turn) error {
	return s.append(ctx, conversation, entry{Begin: &turn})
}

// Commit implements [agent.Store].
func (s *Store) Commit(ctx context.Context, conversation string, ref agent.TurnRef, step agent.Step) error {
	return s.append(ctx, conversation, entry{Ref: ref, Commit: &step})
}

// End implements [agent.Store].
func (s *Store) End(ctx context.Context, conversation string, ref agent.TurnRef, end agent.TurnEnd) error {
	return s.append(ctx, conversation, entry{Ref: ref, End: &end})
}

// Replace implements [agent.Store].
func (s *Store) Replace(ctx context.Context, record agent.Record) error {
	return s.with(ctx, record.ID, func(j *journal) error {
		if err := j.mayReplace(ctx, record); err != nil {
			return err
		}
		stored := record
		stored.Revision++
		line, err := entry{Record: &stored}.line()
		if err != nil {
			return err
		}
		record.Revision -= j.offset
		if err := j.memory.Replace(context.WithoutCancel(ctx), record); err != nil {
			return err
		}
		return s.check(s.rewrite(j, line))
	})
}

// append applies an entry, which checks it, and writes it down. Nobody sees the
// one without the other: the journal is locked, and after a failed write the
// store is broken.
func (s *Store) append(ctx context.Context, conversation string, e entry) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	return s.with(ctx, conversation, func(j *journal) error {
		if err := e.apply(context.WithoutCancel(ctx), j.memory, conversation); err != nil {
			return err
		}
		return s.check(s.extend(j, line))
	})
}

// with runs f on the conversation's journal, alone.
func (s *Store) with(ctx context.Context, conversation string, f func(*journal) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := fileName(conversation)
	if err != nil {
		return err
	}
	j, err := s.journal(conversation, name)
	if err != nil {
		return err
	}
	defer s.underWay.Done()
	defer s.release(j)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	if j.memory == nil {
		if err := j.read(); err != nil {
			return err
		}
	}
	return f(j)
}

// journal returns the conversation's journal and counts the call as under way.
func (s *Store) journal(conversation, name string) (*journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	j := s.journals[conversation]
	if j == nil {
		j = &journal{conversation: conversation, path: filepath.Join(s.dir, name)}
		s.journals[conversation] = j
	}
	if j.idle != nil {
		s.idle.Remove(j.idle)
		j.idle, s.idleSize = nil, s.idleSize-j.size
	}
	j.users++
	s.underWay.Add(1)
	return j, nil
}

// What is kept in memory of conversations that nobody uses.
const (
	maxIdle     = 256
	maxIdleSize = 16 << 20
)

// release lets go of a journal, and of those that were used the longest ago where there
// are too many.
func (s *Store) release(j *journal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.users--; j.users > 0 {
		return
	}
	j.idle = s.idle.PushFront(j)
	s.idleSize += j.size
	for s.idle.Len() > maxIdle || s.idleSize > maxIdleSize {
		last, _ := s.idle.Remove(s.idle.Back()).(*journal)
		s.idleSize -= last.size
		delete(s.journals, last.conversation)
	}
}

func (s *Store) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// check breaks the store when the disk refused a write.
func (s *Store) check(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("filestore: the disk refused a write; open the store again: %w", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
	return err
}

const (
	suffix    = ".jsonl"
	newSuffix = ".new"
	maxName   = 200
)

// fileName returns the name of a conversation's file. File systems differ in
// the characters that they accept and in whether they distinguish A from a, so
// everything but lower-case letters, digits, - and _ is written as its bytes.
func fileName(conversation string) (string, error) {
	var b strings.Builder
	for i := range len(conversation) {
		c := conversation[i]
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	switch {
	case conversation == "":
		return "", agent.Invalid("conversation", "is missing")
	case b.Len() > maxName:
		return "", agent.Invalid("conversation", fmt.Sprintf("is too long for a file name; it has %d characters with its escapes, at most %d are possible", b.Len(), maxName))
	}
	return b.String() + suffix, nil
}
