package spacetool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

const maxMemories = 1000

type memoryEntry struct {
	Match    *string         `json:"match" jsonschema:"A piece of the content of the memory to change, or its id. Leave it out to make a new memory."`
	Topic    *string         `json:"topic" jsonschema:"What it is about, in a word or two."`
	Content  string          `json:"content" jsonschema:"What to keep in mind."`
	Metadata *map[string]any `json:"metadata" jsonschema:"More about it, as an object."`
}

type setMemories struct {
	Memories      []memoryEntry `json:"memories" jsonschema:"The memories to make or to change."`
	ClearExisting *bool         `json:"clearExisting" jsonschema:"Delete all your memories first."`
}

type deleteMemories struct {
	Matches   []string `json:"matches,omitempty" jsonschema:"For each memory to delete, a piece of its content, or its id."`
	Topic     *string  `json:"topic" jsonschema:"Only memories of this topic; without matches all of them."`
	DeleteAll *bool    `json:"deleteAll" jsonschema:"Delete all of them."`
}

func memoryTools(r *Run) []agent.Tool {
	memories := notes[shoal.Memory]{
		word: "memories", limit: maxMemories, order: newestMemory,
		list: func(c *runs.RunChange) ([]shoal.Memory, error) { return r.memories(c) },
		id:   func(m shoal.Memory) string { return m.ID },
		text: func(m shoal.Memory) string { return m.Content },
		drop: func(c *runs.RunChange, m shoal.Memory) error { return c.DeleteMemory(r.session(), r.agent(), m.ID) },
	}
	return []agent.Tool{
		tool("setMemories", "Keeps things in mind for later runs, or changes what you keep in mind. You see the newest in later runs, in those for people who may read this space. Never keep passwords or keys.",
			func(ctx context.Context, in setMemories) (any, error) {
				var changes []change[shoal.Memory]
				for _, e := range in.Memories {
					changes = append(changes, change[shoal.Memory]{or(e.Match, ""), func(c *runs.RunChange, old *shoal.Memory) (shoal.Memory, error) {
						m, err := e.memory(old, r.now())
						if err != nil {
							return m, err
						}
						if err := r.roomForMemory(c, old); err != nil {
							return m, err
						}
						if m.SpaceID = nil; r.Run.Space != "" {
							m.SpaceID = &r.Run.Space
						}
						return m, c.PutMemory(r.session(), r.agent(), m)
					}})
				}
				return memories.set(ctx, r, changes, or(in.ClearExisting, false))
			}),
		tool("deleteMemories", "Deletes memories of yours.", func(ctx context.Context, in deleteMemories) (any, error) {
			all, topic := or(in.DeleteAll, false), strings.TrimSpace(or(in.Topic, ""))
			if topic == "" {
				return memories.remove(ctx, r, in.Matches, all, nil)
			}
			return memories.remove(ctx, r, in.Matches, all || len(in.Matches) == 0, func(m shoal.Memory) bool { return strings.EqualFold(m.Topic, topic) })
		}),
	}
}

// memoryReader is what reading memories needs of a store.
type memoryReader interface {
	pending.EntityReader
	Memories(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Memory, error)
}

// memories returns what the agent keeps in mind and the run may read, in the order of
// creation: it comes from a space that those may read for whom the run acts.
func (r *Run) memories(tx memoryReader) ([]shoal.Memory, error) {
	all, err := tx.Memories(r.session(), r.agent())
	if err != nil {
		return nil, err
	}
	may := map[shoal.SpaceID]bool{}
	out := []shoal.Memory{}
	for _, m := range all {
		if m.SpaceID == nil {
			out = append(out, m)
			continue
		}
		reads, known := may[*m.SpaceID]
		if !known {
			if reads, err = r.mayRead(tx, *m.SpaceID); err != nil {
				return nil, err
			}
			may[*m.SpaceID] = reads
		}
		if reads {
			out = append(out, m)
		}
	}
	return out, nil
}

// roomForMemory refuses a new memory of an agent that has as many as it can have, those
// that the run may not read included.
func (r *Run) roomForMemory(tx memoryReader, old *shoal.Memory) error {
	if old != nil {
		return nil
	}
	all, err := tx.Memories(r.session(), r.agent())
	if err == nil && len(all) >= maxMemories {
		err = shoal.Invalid("memories", fmt.Sprintf("would be more than %d, with those from spaces that you may not read in this run; delete some first", maxMemories))
	}
	return err
}

// newestMemory puts what was kept or changed last first.
func newestMemory(a, b shoal.Memory) int { return b.UpdatedAt.Compare(a.UpdatedAt.Time) }

// memory makes the memory that an entry describes, or old changed by it.
func (e memoryEntry) memory(old *shoal.Memory, now shoal.Time) (shoal.Memory, error) {
	m := shoal.Memory{CreatedAt: now, Metadata: json.RawMessage("{}")}
	if old != nil {
		m = *old
	} else {
		m.ID = shoal.NewID[string](shoal.PrefixMemory)
	}
	m.Content, m.UpdatedAt = e.Content, now
	m.Topic = or(e.Topic, m.Topic)
	if e.Metadata != nil {
		text, err := encode(*e.Metadata)
		if err != nil {
			return m, err
		}
		m.Metadata = json.RawMessage(text)
		if err := (shoal.EntityChange{Metadata: m.Metadata}).Validate(); err != nil {
			return m, err
		}
	}
	if err := checkLine("topic", m.Topic, shoal.MaxName); err != nil {
		return m, err
	}
	return m, checkText("content", m.Content, shoal.MaxDescription)
}
