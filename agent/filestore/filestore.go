// Package filestore keeps conversations in a directory, for programs that have
// no server:
//
//	store, err := filestore.Open("conversations")
//	…
//	defer store.Close()
//	c := agent.OpenConversation(store, "cnv_support_42")
//
// Each conversation is a journal, one file of JSON lines: a write is one line,
// appended and synced to the disk before the method returns. An incomplete last line
// after a crash was never acknowledged and is dropped when the conversation is
// read again; damage anywhere else is an error, never a shorter history. Replace
// writes a new journal next to the old one, and renames it.
//
// Only one process at a time can open a directory. The most recently used conversations
// stay in memory, up to 256 conversations and 16 MiB of journals in addition to those in
// use; the others are read again when they are needed. If a write to the disk fails, the
// store is broken: every method returns that error until the directory is opened again.
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

// Open opens the directory and creates it if necessary. It fails with ErrConflict if
// another process, or another Store of this process, has it open.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, lock: lock, journals: map[string]*journal{}}
	// The file of a Replace that a crash interrupted was never part of the store.
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

// Close waits for the writes in progress and releases the directory. Every method fails
// from then on.
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

// append applies an entry, which checks it, and writes it to the file. No reader sees
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

// with runs f with exclusive access to the conversation's journal.
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

// release ends the use of a journal, and drops the least recently used journals if too
// many are in memory.
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

// check marks the store as broken if a write to the disk failed.
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
