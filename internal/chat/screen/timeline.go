package screen

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// timeline is the visible part of a space and the selection in it.
type timeline struct {
	space    shoal.SpaceID // empty before the first is opened
	follow   bool          // whether the newest line stays visible
	anchor   place         // the first line, if follow is false
	selected string        // the selected stop; empty for none
	unread   int64         // the line "new" is before the message with this seq; 0 for none
	seen     int64         // the last seq when following ended
	target   int64         // the seq of the message that the person goes to; 0 for none
	pages    int           // how many pages were fetched to reach it
	fetching bool          // whether messages are being fetched
	listed   bool          // whether the pending actions are known
	drawn    map[shoal.MessageID]drawn
	unfolded map[shoal.MessageID]bool // messages that are shown whole
	watched  map[shoal.MessageID]bool // messages that were written while the space was open
}

// place is a line of a piece.
type place struct {
	piece string
	line  int
}

// piece is a group of lines that belong together. Stop identifies it as a selection, empty if
// it cannot be selected.
type piece struct {
	key, stop string
	lines     []string
}

// drawn caches the pieces of a message from the last drawing.
type drawn struct {
	revision int64
	width    int
	waits    string
	open     open
	pieces   []piece
	folds    open // what of it hides something when it is folded
}

// open says what of a message is shown whole.
type open struct{ texts, cards bool }

func (t *timeline) clear() {
	t.drawn, t.follow, t.selected, t.anchor = map[shoal.MessageID]drawn{}, true, "", place{}
	t.unfolded, t.watched = map[shoal.MessageID]bool{}, map[shoal.MessageID]bool{}
}

// open shows a space, at its end.
func (t *timeline) open(sp *chat.Space, me shoal.EntityID) {
	t.clear()
	t.space, t.unread, t.fetching, t.target = sp.ID, firstUnread(sp, me), false, 0
}

// firstUnread returns the seq of the first unread message, derived from the counts: the server
// counts unread messages and does not list them.
func firstUnread(sp *chat.Space, me shoal.EntityID) int64 {
	left := sp.UnreadCount
	for _, m := range slices.Backward(sp.Messages) {
		if left == 0 {
			return 0
		}
		if m.EntityID != me && m.Status != shoal.MessageStreaming {
			if left--; left == 0 {
				return m.Seq
			}
		}
	}
	return 0
}

func messageStop(id shoal.MessageID) string { return "m:" + string(id) }

func pendingStop(id shoal.PendingID) string { return "p:" + string(id) }

// pieces returns all pieces of the timeline, from top to bottom.
func (m *model) pieces(width int) []piece {
	sp := m.state.Space(m.space)
	if sp == nil {
		return nil
	}
	var all []piece
	if len(sp.Messages) > 0 && sp.Messages[0].Seq > 1 {
		all = append(all, piece{key: "older", lines: []string{m.style.dim.Render("  … PgUp shows older messages"), ""}})
	}
	notices := sp.Notices
	if len(sp.Messages) > 0 { // notices about messages that are not shown are omitted
		first := sp.Messages[0].Seq - 1
		notices = slices.DeleteFunc(slices.Clone(notices), func(n chat.Notice) bool { return n.After < first })
	}
	for _, msg := range sp.Messages {
		for len(notices) > 0 && notices[0].After < msg.Seq {
			all = append(all, m.drawNotice(notices[0], width))
			notices = notices[1:]
		}
		if msg.Seq == m.timeline.unread {
			all = append(all, piece{key: "unread", lines: []string{m.rule("new", width), ""}})
		}
		all = append(all, m.drawMessage(msg, width)...)
	}
	for _, n := range notices {
		all = append(all, m.drawNotice(n, width))
	}
	for _, run := range slices.Sorted(maps.Keys(sp.Thoughts)) {
		all = append(all, m.drawThought(run, sp.Thoughts[run], width))
	}
	for _, o := range m.out.Of(m.space) {
		all = append(all, m.drawOutgoing(o, width))
	}
	return append(all, m.drawLoose(sp, width)...)
}

// stops returns the selectable stops, from top to bottom.
func stops(all []piece) []string {
	var keys []string
	for _, p := range all {
		if p.stop != "" && !slices.Contains(keys, p.stop) {
			keys = append(keys, p.stop)
		}
	}
	return keys
}

// window returns the lines that fit into height, at the end or at the anchor, and the number of
// lines above them.
func (t *timeline) window(all []piece, height int) (lines []row, above int) {
	var rows []row
	for _, p := range all {
		for i, text := range p.lines {
			rows = append(rows, row{text, p.stop, place{p.key, i}})
		}
	}
	for len(rows) > 0 && rows[len(rows)-1].text == "" {
		rows = rows[:len(rows)-1]
	}
	top := len(rows) - height
	if !t.follow {
		if at := t.anchored(rows); at >= 0 {
			top = min(at, top)
		}
	}
	top = max(top, 0)
	return rows[top:min(len(rows), top+height)], top
}

// anchored returns the row of the anchor, or the start of its message if that line no longer
// exists; -1 without either.
func (t *timeline) anchored(rows []row) int {
	at := slices.IndexFunc(rows, func(r row) bool { return r.place == t.anchor })
	if at < 0 {
		message, _, _ := strings.Cut(t.anchor.piece, "/")
		at = slices.IndexFunc(rows, func(r row) bool { return r.place.piece == message })
	}
	return at
}

// row is one line of the timeline.
type row struct {
	text  string
	stop  string
	place place
}

// stays reports whether the row can be an anchor: it belongs to a message, so it exists as long
// as the message.
func (r row) stays() bool { return strings.HasPrefix(r.place.piece, messageStop("")) }

// scroll moves the visible lines, down if by is positive. It reports whether the start was
// passed.
func (m *model) scroll(by int) (above bool) {
	lay := m.layout()
	all := m.pieces(lay.middle)
	rows, _ := m.timeline.window(all, math.MaxInt32)
	_, now := m.timeline.window(all, lay.body)
	end := max(0, len(rows)-lay.body)
	to := min(max(now+by, 0), end)
	m.timeline.follow = to == end
	switch sp := m.state.Space(m.space); {
	case m.timeline.follow:
		m.timeline.seen = 0
	case sp != nil:
		for by < 0 && to > 0 && !rows[to].stays() {
			to--
		}
		for to < len(rows)-1 && !rows[to].stays() {
			to++
		}
		m.timeline.anchor = rows[to].place
		if m.timeline.seen == 0 {
			m.timeline.seen = sp.LastSeq
		}
	}
	return now+by < 0
}

// below returns the number of new messages out of sight; empty for none.
func (m *model) below() string {
	sp := m.state.Space(m.space)
	if sp == nil || m.timeline.follow || m.timeline.seen == 0 || sp.LastSeq <= m.timeline.seen {
		return ""
	}
	return fmt.Sprintf("↓ %d new, End shows them", sp.LastSeq-m.timeline.seen)
}

// step selects the next stop, or with -1 the previous one, and scrolls to it.
func (m *model) step(by int) {
	all := m.pieces(m.layout().middle)
	keys := stops(all)
	if len(keys) == 0 {
		return
	}
	at := slices.Index(keys, m.timeline.selected)
	switch {
	case at < 0 && by < 0:
		at = len(keys) - 1
	case at < 0:
		at = 0
	default:
		at = min(max(at+by, 0), len(keys)-1)
	}
	m.stand(keys[at])
}

// stand selects a stop and scrolls to it.
func (m *model) stand(stop string) {
	m.timeline.selected = stop
	lay := m.layout()
	all := m.pieces(lay.middle)
	rows, _ := m.timeline.window(all, math.MaxInt32)
	first := slices.IndexFunc(rows, func(r row) bool { return r.stop == stop })
	if first < 0 {
		return
	}
	last := first
	for last+1 < len(rows) && rows[last+1].stop == stop {
		last++
	}
	_, top := m.timeline.window(all, lay.body)
	switch {
	case first < top:
		m.scroll(first - top)
	case last >= top+lay.body:
		m.scroll(min(last-lay.body+1, first) - top)
	}
}
