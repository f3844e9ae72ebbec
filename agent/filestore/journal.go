package filestore

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

// journal is one conversation: its file, and what the file comes to.
type journal struct {
	mu           sync.Mutex
	conversation string
	path         string
	memory       agent.Store // nil: not read yet
	// offset is what to add to the memory's revisions, which begin at 1 when a
	// journal is read.
	offset int64
	// size is that of the file, and about that of the memory.
	size int64
	// users is how many calls use the journal, idle its place among those that nobody
	// uses. Both belong to the lock of the store.
	users int
	idle  *list.Element
	// unnamed says that the file's name may not be on the disk yet.
	unnamed bool
}

// entry is one line of a journal; one field besides Ref is set.
type entry struct {
	Ref    agent.TurnRef  `json:"ref,omitzero"`
	Record *agent.Record  `json:"record,omitempty"`
	Begin  *agent.Turn    `json:"begin,omitempty"`
	Commit *agent.Step    `json:"commit,omitempty"`
	End    *agent.TurnEnd `json:"end,omitempty"`
}

const sumLength = 8

// line returns the entry's line in the file: a checksum, a space, JSON and a line
// feed.
func (e entry) line() ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	return fmt.Appendf(nil, "%0*x %s\n", sumLength, crc32.ChecksumIEEE(text), text), nil
}

func parse(line []byte) (entry, error) {
	var e entry
	if len(line) < sumLength+1 || line[sumLength] != ' ' {
		return e, errors.New("is not a line of a journal")
	}
	text := line[sumLength+1:]
	if string(line[:sumLength]) != fmt.Sprintf("%0*x", sumLength, crc32.ChecksumIEEE(text)) {
		return e, errors.New("does not have its checksum")
	}
	return e, json.Unmarshal(text, &e)
}

// apply makes the entry's write in memory.
func (e entry) apply(ctx context.Context, memory agent.Store, conversation string) error {
	switch {
	case e.Record != nil:
		r := *e.Record
		r.Revision = 0
		return memory.Replace(ctx, r)
	case e.Begin != nil:
		return memory.Begin(ctx, conversation, *e.Begin)
	case e.Commit != nil:
		return memory.Commit(ctx, conversation, e.Ref, *e.Commit)
	case e.End != nil:
		return memory.End(ctx, conversation, e.Ref, *e.End)
	}
	return errors.New("says nothing")
}

// read replays the file and cuts off what a crash left of the last line.
func (j *journal) read() error {
	text, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		j.memory, j.unnamed = agent.NewMemory(), true
		return nil
	}
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	memory, offset := agent.NewMemory(), int64(0)
	number := 0
	for line := range bytes.Lines(whole) {
		number++
		e, err := parse(line[:len(line)-1])
		if err == nil {
			err = e.apply(context.Background(), memory, j.conversation)
		}
		if err == nil && e.Record != nil {
			offset = e.Record.Revision - 1
		}
		if err != nil {
			return fmt.Errorf("filestore: line %d of %s is damaged; restore the file from a copy: %w", number, filepath.Base(j.path), err)
		}
	}
	if err := settle(j.path, int64(len(whole))); err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	j.memory, j.offset, j.unnamed, j.size = memory, offset, true, int64(len(whole))
	return nil
}

// settle cuts a file off and syncs it: a process may have died between writing a
// line and syncing it, and what is read must not vanish later.
func settle(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return finish(f, f.Truncate(size))
}

// finish syncs and closes f unless something went wrong before.
func finish(f *os.File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// mayReplace refuses a record that is not of the stored revision.
func (j *journal) mayReplace(ctx context.Context, record agent.Record) error {
	stored, err := j.memory.Load(ctx, j.conversation)
	switch {
	case errors.Is(err, agent.ErrNotFound):
		stored.Revision = 0
	case err != nil:
		return err
	default:
		stored.Revision += j.offset
	}
	if record.Revision != stored.Revision {
		return agent.NewError("filestore.Replace", agent.ErrConflict, fmt.Sprintf(
			"Conversation %s is at revision %d, not %d: it has changed meanwhile; load it and repeat the change.",
			j.conversation, stored.Revision, record.Revision))
	}
	return nil
}

// extend appends a line. The file is not kept open: a directory may hold more
// conversations than a process may have files.
func (s *Store) extend(j *journal, line []byte) error {
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err := finish(f, err); err != nil {
		return err
	}
	j.size += int64(len(line))
	return s.named(j)
}

// rewrite puts a file with one line in the place of the journal.
func (s *Store) rewrite(j *journal, line []byte) error {
	f, err := os.OpenFile(j.path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err := finish(f, err); err != nil {
		return err
	}
	if err := os.Rename(j.path+newSuffix, j.path); err != nil {
		return err
	}
	j.unnamed, j.size = true, int64(len(line))
	return s.named(j)
}

// named makes the name of a file durable, which syncing the file does not.
func (s *Store) named(j *journal) error {
	if !j.unnamed {
		return nil
	}
	j.unnamed = false
	return syncDir(s.dir)
}
