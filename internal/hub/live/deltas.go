package live

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Delta is a piece of a part that is being written. Without a Space only the followers of
// the run receive it. The same applies to Reasoning, unless Show makes it visible to the
// space. Reasoning has no message and no stored part: its Part is an id that is used once.
// First and Last mark the first and the last delta of a part.
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

// Owner returns the id of what the part belongs to: its message, or the run if it has no
// message.
func (d Delta) Owner(run shoal.RunID) string {
	if d.Message == "" {
		return string(run)
	}
	return string(d.Message)
}

// EventType returns the type of the event that the delta is sent as.
func (d Delta) EventType() shoal.EventType {
	switch {
	case d.Reasoning:
		return shoal.EventReasoningDelta
	case d.Tool != "":
		return shoal.EventToolInputDelta
	}
	return shoal.EventTextDelta
}

// DeltaEvent is a delta as a bus message. Base is the position of the part's opening or last
// reset before it, 0 for a part that is not stored: a receiver that has read a later one
// ignores the delta.
type DeltaEvent struct {
	Key         PartKey
	Space       shoal.SpaceID
	Run         shoal.RunID
	Target      shoal.EntityID
	Type        shoal.EventType
	Offset      int
	Size        int
	Base        int64
	OfRun       bool // the part belongs to the run and not to a message
	Show        bool // followers of the space may see it
	First, Last bool
}

// Topics returns the topics that carry the delta.
func (n *DeltaEvent) Topics() []string {
	topics := []string{core.RunTopic(n.Key.Session, n.Run)}
	if n.Show {
		topics = append(topics, core.SessionTopic(n.Key.Session), core.SpaceTopic(n.Key.Session, n.Space))
	}
	return topics
}

// Head returns the fields that the delta has in common with other events of its part.
func (n *DeltaEvent) Head(at shoal.Time) shoal.PartHead {
	h := shoal.PartHead{PartID: n.Key.Part, TargetEntityID: n.Target, EventHead: core.EventHead(storage.Event{Space: n.Space, Run: n.Run, Type: n.Type}, at)}
	if !n.OfRun {
		h.MessageID = shoal.MessageID(n.Key.Owner)
	}
	return h
}

// deltaPrefix begins the bus message of a delta; other ephemeral events are JSON.
const deltaPrefix = "delta"

// Encode returns the bus message: a line with the fields that the feeds need, so that they
// need not parse JSON, and the data of the event. It is nil for a text that cannot be
// encoded as JSON.
func (n *DeltaEvent) Encode(d Delta) []byte {
	data, err := shoal.EncodeJSON(shoal.DeltaData{PartHead: n.Head(shoal.Now()), ToolCallID: d.Call, ToolName: d.Tool, Offset: d.Offset, Delta: d.Text})
	if err != nil {
		return nil
	}
	flags := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{n.OfRun, "l"}, {n.Show, "s"}, {n.First, "f"}, {n.Last, "e"}} {
		if f.set {
			flags += f.name
		}
	}
	line := strings.Join([]string{
		deltaPrefix, string(n.Key.Session), n.Key.Owner, string(n.Key.Part), string(n.Space), string(n.Run), string(n.Target), string(n.Type),
		strconv.Itoa(n.Offset), strconv.Itoa(n.Size), strconv.FormatInt(n.Base, 10), flags,
	}, " ")
	return append(append([]byte(line), '\n'), data...)
}

// ParseDeltaEvent parses the bus message of a delta. ok is false for another ephemeral
// event.
func ParseDeltaEvent(event []byte) (n *DeltaEvent, data []byte, ok bool) {
	line, data, found := bytes.Cut(event, []byte{'\n'})
	if !found || !bytes.HasPrefix(line, []byte(deltaPrefix+" ")) {
		return nil, nil, false
	}
	f := strings.Split(string(line), " ")
	if len(f) != 12 {
		return nil, nil, false
	}
	n = &DeltaEvent{
		Key: PartKey{shoal.SessionID(f[1]), f[2], shoal.PartID(f[3])}, Space: shoal.SpaceID(f[4]), Run: shoal.RunID(f[5]),
		Target: shoal.EntityID(f[6]), Type: shoal.EventType(f[7]),
		OfRun: strings.Contains(f[11], "l"), Show: strings.Contains(f[11], "s"), First: strings.Contains(f[11], "f"), Last: strings.Contains(f[11], "e"),
	}
	var err1, err2, err3 error
	n.Offset, err1 = strconv.Atoi(f[8])
	n.Size, err2 = strconv.Atoi(f[9])
	n.Base, err3 = strconv.ParseInt(f[10], 10, 64)
	return n, data, err1 == nil && err2 == nil && err3 == nil
}
