package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Mark is a state as a person is shown it: a sign and a word that says the same,
// so that nobody needs to see a colour.
type Mark struct {
	Sign, Word string
}

// String returns both.
func (m Mark) String() string { return strings.TrimSpace(m.Sign + " " + m.Word) }

var partMarks = map[shoal.PartStatus]Mark{
	shoal.PartStreaming:      {"…", "writing"},
	shoal.PartInterrupted:    {"■", "interrupted"},
	shoal.PartInputStreaming: {"…", "preparing"},
	shoal.PartRunning:        {"▸", "running"},
	shoal.PartRequiresAction: {"!", "waits for an answer"},
	shoal.PartDone:           {"✓", "done"},
	shoal.PartError:          {"✗", "failed"},
	shoal.PartDenied:         {"⊘", "denied"},
	shoal.PartCanceled:       {"■", "canceled"},
}

// PartMark says how far a part is; empty for a text that is whole.
func PartMark(p shoal.Part) Mark {
	if p.Type != shoal.ToolPart && p.Status == shoal.PartDone {
		return Mark{}
	}
	return partMarks[p.Status]
}

// Mark says how far a message is; empty for one that is whole.
func (s *State) Mark(m shoal.Message) Mark {
	switch m.Status {
	case shoal.MessageFailed:
		return Mark{"✗", "failed"}
	case shoal.MessageCanceled:
		return Mark{"■", "canceled"}
	case shoal.MessageStreaming:
		if slices.ContainsFunc(m.Parts, func(p shoal.Part) bool { return p.Status == shoal.PartRequiresAction }) {
			return Mark{"!", "waiting"}
		}
		if m.RunID != nil && s.parked[*m.RunID] {
			return Mark{"◦", "waiting"}
		}
		return Mark{"…", "writing"}
	}
	return Mark{}
}

// StateMark says what a member is doing; empty where it is not known.
func StateMark(s shoal.State) Mark {
	switch s {
	case shoal.Waiting:
		return Mark{"◦", "waiting for messages"}
	case shoal.Running:
		return Mark{"▸", "running"}
	case shoal.Connected:
		return Mark{"●", "connected"}
	case shoal.Offline:
		return Mark{"○", "offline"}
	}
	return Mark{}
}

// Subject says what a pending action is about.
func Subject(p shoal.PendingAction) string {
	about := strings.TrimSpace(p.ToolName + " " + string(p.Args))
	if p.Question != nil && *p.Question != "" {
		about = *p.Question
	}
	if len(p.Options) > 0 {
		about += " [" + strings.Join(p.Options, " | ") + "]"
	}
	if votes := Votes(p); votes != "" {
		about += " (" + votes + ")"
	}
	return about
}

// Votes says how many have answered of those who have to, and who: "1 of 2: uma". It is
// empty where one answer is enough.
func Votes(p shoal.PendingAction) string {
	if p.Quorum <= 1 {
		return ""
	}
	votes := fmt.Sprintf("%d of %d", len(p.Votes), p.Quorum)
	for i, v := range p.Votes {
		votes += map[bool]string{true: ": ", false: ", "}[i == 0] + string(v.EntityID)
	}
	return votes
}

// Entry is one member of a JSON object, to be shown in a line.
type Entry struct {
	Name, Value string
}

// Entries returns the members of a JSON object in its order: strings as they are,
// everything else as JSON. A value that is no object is one entry without a name,
// null and an empty object are none. Of JSON that is not whole, the members that are.
func Entries(raw json.RawMessage) []Entry {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '{' {
		return []Entry{{Value: plain(raw)}}
	}
	var all []Entry
	for name, value := range members(raw) {
		all = append(all, Entry{name, plain(value)})
	}
	return all
}

// members yields the members of a JSON object in its order, up to where it is
// whole.
func members(raw json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		if open, err := d.Token(); err != nil || open != json.Delim('{') {
			return
		}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return
			}
			var value json.RawMessage
			if d.Decode(&value) != nil {
				return
			}
			key, _ := name.(string) // the decoder lets no other key through
			if !yield(key, value) {
				return
			}
		}
	}
}

// plain is a value in a line: a string as it is, everything else as JSON.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil {
		return b.String()
	}
	return string(raw)
}
