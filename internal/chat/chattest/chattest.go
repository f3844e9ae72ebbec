// Package chattest generates server events from short lines, for stories that test
// conversations.
//
//	w := chattest.New()
//	events, err := w.Events(`say shop 3 bot @ann "Two laptops?"`)
//
// It keeps the streaming messages like the server does, so that their end contains all parts.
// Times are minutes after nine o'clock. The package must be linked into tests only.
//
// Lines, where MSG is the seq of a message whose id is m followed by MSG:
//
//	snapshot SPACE MEMBER… [unread=N] [mentions=N]   with the messages so far
//	ready                                            the end of the snapshots
//	say SPACE MSG WHO [@ID…] TEXT                    a complete message
//	stored …                                         like say, but without an event
//	begin SPACE MSG WHO [RUN]                        a streaming message
//	text | tool SPACE MSG PART [NAME]                a part of it starts
//	delta | input SPACE MSG PART OFFSET TEXT         more of a text, or of the arguments of a tool
//	end SPACE MSG PART TEXT [STATUS]                 a text is complete
//	call SPACE MSG PART NAME JSON                    the arguments of a tool are complete
//	result SPACE MSG PART JSON [WHO]                 the result of a tool
//	error SPACE MSG PART STATUS TEXT [WHO]
//	hide SPACE MSG PART                              a part for another member
//	reset | remove SPACE MSG PART [OFFSET]           a part is withdrawn
//	done SPACE MSG [STATUS]                          the message is complete
//	think SPACE RUN TEXT                             more reasoning text
//	waits ID KIND SPACE MSG PART NAME JSON [SCHEMA]  a pending action; MSG and PART may be -
//	asks ID SPACE TEXT [OPTION…]                     a question
//	settled ID WHO
//	run SPACE RUN STATUS [CODE TEXT]
//	made SPACE NAME                                  a space is created or renamed
//	joined | left SPACE WHO, closed SPACE TEXT, deleted SPACE SEQ, entity WHO STATE [NAME]
package chattest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// World is the state of the server.
type World struct {
	spaces   map[shoal.SpaceID]*shoal.Space
	messages map[shoal.SpaceID][]*shoal.Message
	pending  map[shoal.PendingID]shoal.PendingAction
	minutes  int
}

// New returns an empty world.
func New() *World {
	return &World{
		spaces: map[shoal.SpaceID]*shoal.Space{}, messages: map[shoal.SpaceID][]*shoal.Message{}, pending: map[shoal.PendingID]shoal.PendingAction{},
	}
}

// Pending returns a pending action of an earlier line.
func (w *World) Pending(id shoal.PendingID) shoal.PendingAction { return w.pending[id] }

// Message returns a message of an earlier line. It panics if it does not exist.
func (w *World) Message(space shoal.SpaceID, seq string) *shoal.Message {
	for _, m := range w.messages[space] {
		if itoa(m.Seq) == seq {
			return m
		}
	}
	panic(fmt.Sprintf("message %s not found in %s", seq, space))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (w *World) now() shoal.Time {
	w.minutes++
	return shoal.At(time.Date(2026, 11, 20, 9, w.minutes, 0, 0, time.UTC))
}

// Words splits a line into words, quoted texts, and JSON without spaces.
func Words(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			if quoted, err := strconv.QuotedPrefix(line); err == nil {
				text, _ := strconv.Unquote(quoted) // a quoted prefix can be unquoted
				words, line = append(words, text), line[len(quoted):]
				continue
			}
		}
		var raw json.RawMessage
		if d := json.NewDecoder(strings.NewReader(line)); line[0] == '{' && d.Decode(&raw) == nil {
			words, line = append(words, string(raw)), line[len(raw):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		words, line = append(words, word), rest
	}
	return words
}

// event encodes one event.
func event(what shoal.EventType, data any) []shoal.Event {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // event data can always be encoded
	}
	return []shoal.Event{{Type: what, Cursor: "c", Data: b}}
}

func (w *World) head(what shoal.EventType, space string) shoal.EventHead {
	h := shoal.EventHead{Type: what, At: w.now()}
	if id := shoal.SpaceID(space); id != "" {
		h.SpaceID = &id
	}
	return h
}

// Events returns the events of a line. The error says that the line is invalid.
func (w *World) Events(line string) (events []shoal.Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%q: %v", line, r)
		}
	}()
	a := append(Words(line), "", "", "", "", "", "", "")
	do := map[string]func([]string) []shoal.Event{
		"snapshot": w.snapshot, "say": w.say, "begin": w.begin, "text": w.part, "tool": w.part, "delta": w.delta, "input": w.delta,
		"end": w.end, "call": w.call, "result": w.result, "error": w.result, "hide": w.part, "reset": w.withdraw, "remove": w.withdraw,
		"done": w.done, "waits": w.waits, "asks": w.asks, "settled": w.settled, "run": w.run, "joined": w.member, "left": w.member,
		"closed": w.closed, "made": w.made, "entity": w.entity, "think": w.think, "deleted": w.deleted,
		"ready":  func([]string) []shoal.Event { return event(shoal.EventSnapshotEnd, w.head(shoal.EventSnapshotEnd, "")) },
		"stored": func(a []string) []shoal.Event { w.say(a); return nil },
	}[a[0]]
	if do == nil {
		return nil, fmt.Errorf("%q is not an event", line)
	}
	return do(a), nil
}

func member(id string) shoal.Member {
	m := shoal.Member{EntityID: shoal.EntityID(id), Kind: shoal.Human, Name: strings.ToUpper(id[:1]) + id[1:]}
	if strings.HasSuffix(id, "bot") {
		m.Kind = shoal.Agent
	}
	return m
}

func (w *World) snapshot(a []string) []shoal.Event {
	id := shoal.SpaceID(a[1])
	sp := shoal.Space{ID: id, Name: strings.ToUpper(a[1][:1]) + a[1][1:], Status: shoal.SpaceStatusOpen, CreatedAt: shoal.At(time.Date(2026, 11, 20, 8, len(w.spaces), 0, 0, time.UTC))}
	for _, word := range a[2:] {
		name, value, set := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64) // 0 for an invalid number
		switch {
		case word == "":
		case !set:
			sp.Members = append(sp.Members, member(word))
		case name == "unread":
			sp.UnreadCount = n
		case name == "mentions":
			sp.MentionCount = n
		}
	}
	data := shoal.SnapshotData{EventHead: w.head(shoal.EventSnapshot, a[1])}
	all := w.messages[id]
	if len(all) > 0 {
		sp.LastSeq = all[len(all)-1].Seq
	}
	for _, m := range all[max(0, len(all)-50):] {
		data.Messages = append(data.Messages, *m)
	}
	w.spaces[id] = &sp
	data.Space, data.Members = sp, sp.Members
	return event(shoal.EventSnapshot, data)
}

func (w *World) put(space, seq, who string) *shoal.Message {
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		panic(err)
	}
	id := shoal.SpaceID(space)
	m := &shoal.Message{
		ID: shoal.MessageID("m" + seq), SpaceID: id, Seq: n, EntityID: shoal.EntityID(who), Status: shoal.MessageCompleted, CreatedAt: w.now(),
	}
	at, _ := slices.BinarySearchFunc(w.messages[id], n, func(m *shoal.Message, n int64) int { return int(m.Seq - n) })
	w.messages[id] = slices.Insert(w.messages[id], at, m)
	return m
}

func (w *World) tell(what shoal.EventType, m *shoal.Message) []shoal.Event {
	return event(what, shoal.MessageData{EventHead: w.head(what, string(m.SpaceID)), Message: *m})
}

func (w *World) say(a []string) []shoal.Event {
	m := w.put(a[1], a[2], a[3])
	rest := a[4:]
	for ; strings.HasPrefix(rest[0], "@"); rest = rest[1:] {
		m.Mentions = append(m.Mentions, shoal.EntityID(rest[0][1:]))
	}
	m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: rest[0], Status: shoal.PartDone}}
	return w.tell(shoal.EventMessageCreated, m)
}

func (w *World) begin(a []string) []shoal.Event {
	m := w.put(a[1], a[2], a[3])
	m.Status = shoal.MessageStreaming
	if run := shoal.RunID(a[4]); run != "" {
		m.RunID = &run
	}
	return w.tell(shoal.EventMessageCreated, m)
}

func (w *World) done(a []string) []shoal.Event {
	m := w.Message(shoal.SpaceID(a[1]), a[2])
	m.Status = shoal.MessageCompleted
	if a[3] != "" {
		m.Status = shoal.MessageStatus(a[3])
	}
	return w.tell(shoal.EventMessageCompleted, m)
}
