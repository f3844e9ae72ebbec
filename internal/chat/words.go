package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Mark is a state for display: a sign and a word with the same meaning, so that colour is
// never required.
type Mark struct {
	Sign, Word string
}

// String returns the sign and the word.
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

// PartMark returns the state of a part; empty for a complete text.
func PartMark(p shoal.Part) Mark {
	if p.Type != shoal.ToolPart && p.Status == shoal.PartDone {
		return Mark{}
	}
	return partMarks[p.Status]
}

// Mark returns the state of a message; empty for a complete one.
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

// StateMark returns the activity of a member; empty if unknown.
func StateMark(s shoal.State) Mark {
	switch s {
	case shoal.Waiting:
		return Mark{"◦", "waiting for messages"}
	case shoal.Running:
		return Mark{"▸", "running"}
	case shoal.Connected:
		return Mark{"●", "online"}
	case shoal.Offline:
		return Mark{"○", "offline"}
	}
	return Mark{}
}

// Subject describes the subject of a pending action.
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

// Votes returns how many of the required answers have been given, and by whom: "1 of 2: uma". It is
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

// Entry is one member of a JSON object, for display on one line.
type Entry struct {
	Name, Value string
}

// Entries returns the members of a JSON object in their order: strings unchanged, other values
// as JSON. A value that is not an object is one entry without a name; null and an empty object
// have no entries. Of incomplete JSON it returns the complete members.
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

// members yields the members of a JSON object in their order, up to the first incomplete one.
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
			key, _ := name.(string) // the decoder accepts no other key
			if !yield(key, value) {
				return
			}
		}
	}
}

// plain returns a value on one line: a string unchanged, other values as JSON.
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
