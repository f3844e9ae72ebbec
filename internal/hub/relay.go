package hub

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Delta is a piece of a part that is being written. Without a Space it is for the
// followers of the run alone; so is Reasoning, unless Show says that the space is to
// see it, too. Reasoning has no message and no stored part: its Part is an id that
// is used once. First and Last mark its beginning and its end.
type Delta struct {
	Space       shoal.SpaceID
	Message     shoal.MessageID
	Part        shoal.PartID
	Call, Tool  string // empty for text
	Target      shoal.EntityID
	Offset      int
	Text        string
	Reasoning   bool
	Show        bool
	First, Last bool
}

// owner is what the part belongs to: its message, or the run where there is none.
func (d Delta) owner(run shoal.RunID) string {
	if d.Message == "" {
		return string(run)
	}
	return string(d.Message)
}

func (d Delta) eventType() shoal.EventType {
	switch {
	case d.Reasoning:
		return shoal.EventReasoningDelta
	case d.Tool != "":
		return shoal.EventToolInputDelta
	}
	return shoal.EventTextDelta
}

// Relay hands passing deltas to whoever follows the space or the run now, in their
// order. It neither blocks nor fails: who misses one is healed. It is encoded once
// for all of them.
func (w *Work) Relay(lease Lease, deltas []Delta) {
	for _, d := range deltas {
		n := passing{
			key: partKey{lease.Session, d.owner(lease.Run), d.Part}, space: d.Space, run: lease.Run, target: d.Target, what: d.eventType(),
			offset: d.Offset, size: len(d.Text), loose: d.Message == "", show: d.Show && d.Space != "" || d.Message != "", first: d.First, last: d.Last,
		}
		var ok bool
		if n.base, ok = w.live.add(lease, n.key, d); !ok {
			continue
		}
		var note []byte
		for _, topic := range n.topics() {
			if !w.bus.Watched(topic) {
				continue
			}
			if note == nil {
				if note = n.encode(d); note == nil {
					return
				}
			}
			w.bus.Publish(Note{Topic: topic, Event: note})
		}
	}
}

// passing is a delta on its way. base is the place of the last reset before it.
type passing struct {
	key         partKey
	space       shoal.SpaceID
	run         shoal.RunID
	target      shoal.EntityID
	what        shoal.EventType
	offset      int
	size        int
	base        int64
	loose       bool // it belongs to no message
	show        bool // followers of the space may see it
	first, last bool
}

func (n *passing) topics() []string {
	topics := []string{runTopic(n.key.session, n.run)}
	if n.show {
		topics = append(topics, sessionTopic(n.key.session), spaceTopic(n.key.session, n.space))
	}
	return topics
}

func (n *passing) head(at shoal.Time) shoal.PartHead {
	h := shoal.PartHead{PartID: n.key.part, TargetEntityID: n.target, EventHead: head(StoredEvent{Space: n.space, Run: n.run, Type: n.what}, at)}
	if !n.loose {
		h.MessageID = shoal.MessageID(n.key.owner)
	}
	return h
}

// passingMark begins a note that is a delta; other passing events are JSON.
const passingMark = "delta"

// encode writes the note: a line for the feeds, which need not read the JSON then,
// and the data of the event. It is nil for a text that has no JSON.
func (n *passing) encode(d Delta) []byte {
	data, err := shoal.EncodeJSON(shoal.DeltaData{PartHead: n.head(shoal.Now()), ToolCallID: d.Call, ToolName: d.Tool, Offset: d.Offset, Delta: d.Text})
	if err != nil {
		return nil
	}
	flags := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{n.loose, "l"}, {n.show, "s"}, {n.first, "f"}, {n.last, "e"}} {
		if f.set {
			flags += f.name
		}
	}
	line := strings.Join([]string{
		passingMark, string(n.key.session), n.key.owner, string(n.key.part), string(n.space), string(n.run), string(n.target), string(n.what),
		strconv.Itoa(n.offset), strconv.Itoa(n.size), strconv.FormatInt(n.base, 10), flags,
	}, " ")
	return append(append([]byte(line), '\n'), data...)
}

// parsePassing reads what encode wrote. ok is false for another passing event.
func parsePassing(note []byte) (n *passing, data []byte, ok bool) {
	line, data, found := bytes.Cut(note, []byte{'\n'})
	if !found || !bytes.HasPrefix(line, []byte(passingMark+" ")) {
		return nil, nil, false
	}
	f := strings.Split(string(line), " ")
	if len(f) != 12 {
		return nil, nil, false
	}
	n = &passing{
		key: partKey{shoal.SessionID(f[1]), f[2], shoal.PartID(f[3])}, space: shoal.SpaceID(f[4]), run: shoal.RunID(f[5]),
		target: shoal.EntityID(f[6]), what: shoal.EventType(f[7]),
		loose: strings.Contains(f[11], "l"), show: strings.Contains(f[11], "s"), first: strings.Contains(f[11], "f"), last: strings.Contains(f[11], "e"),
	}
	var err1, err2, err3 error
	n.offset, err1 = strconv.Atoi(f[8])
	n.size, err2 = strconv.Atoi(f[9])
	n.base, err3 = strconv.ParseInt(f[10], 10, 64)
	return n, data, err1 == nil && err2 == nil && err3 == nil
}
