package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/safetext"
)

const (
	// maxHits is the number of hits of a search.
	maxHits = 50
	// maxApproach is how many pages of older messages are fetched to reach a hit.
	maxApproach = 50
	hitLines    = 2
)

// search is the view that finds messages in all spaces.
type search struct {
	typed string
	asked string // the query of hits, empty before the first
	busy  bool
	wrong string // the server's reason for a refusal
	hits  []shoal.Hit
	at    int
}

// found is the result of a search.
type found struct {
	query string
	hits  []shoal.Hit
	err   error
}

// openSearch shows the search, and searches if there is a query. What was found before is kept.
func (m *model) openSearch(query string) tea.Cmd {
	if m.focus == answering {
		m.endForm("")
	}
	if m.focus != searching && m.focus != choosing && m.focus != helping {
		m.before = m.focus
	}
	m.focusOn(searching)
	if query == "" {
		return nil
	}
	m.search.typed = query
	return m.find()
}

// find searches for what is typed.
func (m *model) find() tea.Cmd {
	query := strings.TrimSpace(m.search.typed)
	if query == "" {
		return nil
	}
	if !m.state.Live {
		m.search.wrong = "the connection is lost: search when it is back"
		return nil
	}
	m.search = search{typed: m.search.typed, asked: query, busy: true}
	return m.call(func(ctx context.Context) tea.Msg {
		in := found{query: query}
		for hit, err := range m.session.Search(ctx, query, client.SearchOptions{Page: maxHits}) {
			if err != nil {
				return found{query: query, err: err}
			}
			if in.hits = append(in.hits, hit); len(in.hits) == maxHits {
				break
			}
		}
		return in
	})
}

// foundNow processes the result of a search, unless another one was started since.
func (m *model) foundNow(in found) {
	if in.query != m.search.asked {
		return
	}
	m.search.busy, m.search.hits, m.search.wrong = false, in.hits, ""
	if in.err != nil {
		m.search.wrong = sentence(in.err)
	}
}

func (m *model) searchingKey(k tea.KeyPressMsg) tea.Cmd {
	s := &m.search
	switch k.String() {
	case "esc":
		m.focusOn(m.before)
	case "up", "shift+tab":
		s.at = max(0, s.at-1)
	case "down", "tab":
		s.at = max(0, min(len(s.hits)-1, s.at+1))
	case "enter":
		if strings.TrimSpace(s.typed) != s.asked || s.wrong != "" {
			return m.find()
		}
		if s.at < len(s.hits) {
			return m.goTo(s.hits[s.at].Message)
		}
	case "backspace":
		if r := []rune(s.typed); len(r) > 0 {
			s.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		s.typed = ""
	default:
		if k.Text != "" {
			s.typed += safetext.Line(k.Text)
		}
	}
	return nil
}

// goTo opens the space of a message and selects the message, once it is fetched.
func (m *model) goTo(msg shoal.Message) tea.Cmd {
	if m.state.Space(msg.SpaceID) == nil {
		m.note = fmt.Sprintf("you are not a member of %s", msg.SpaceID)
		return nil
	}
	var then tea.Cmd
	if msg.SpaceID != m.space {
		then = m.open(msg.SpaceID)
	}
	m.focusOn(reading)
	m.timeline.target, m.timeline.pages = msg.Seq, 0
	return tea.Batch(then, m.approach())
}

// approach selects the message that the person goes to, or fetches older messages until it is
// there.
func (m *model) approach() tea.Cmd {
	sp, target := m.state.Space(m.space), m.timeline.target
	if sp == nil || target == 0 || len(sp.Messages) == 0 {
		return nil
	}
	at := slices.IndexFunc(sp.Messages, func(msg *chat.Message) bool { return msg.Seq == target })
	switch {
	case at >= 0:
		m.timeline.target, m.timeline.unread, m.note = 0, 0, ""
		m.stand(messageStop(sp.Messages[at].ID))
	case sp.Messages[0].Seq < target: // mend fetches what is missing
	case m.timeline.pages == maxApproach:
		m.timeline.target = 0
		m.note = "this message is too far back for the terminal: open it in the console"
	case !m.timeline.fetching:
		m.note = "loading older messages …"
		m.timeline.fetching = true
		m.timeline.pages++
		return m.fetch(m.space, client.MessagesOptions{Before: sp.Messages[0].Seq, Limit: shoal.MaxPage})
	}
	return nil
}

// drawSearch returns the query and its hits.
func (m *model) drawSearch(l layout) []string {
	s := m.search
	lines := []string{"", "  " + m.style.strong.Render(searchLabel) + cut(s.typed, l.middle-len(searchLabel)-2), ""}
	switch {
	case s.busy:
		lines = append(lines, "  "+m.style.busy.Render("… searching"))
	case s.wrong != "":
		for _, text := range wrap("✗ "+s.wrong, l.middle-2) {
			lines = append(lines, "  "+m.style.bad.Render(text))
		}
	case s.asked == "":
		for _, text := range wrap(`Words, "words in this order", from:ID, in:SPACE, mentions:me, has:file, before:2027-01-31`, l.middle-2) {
			lines = append(lines, "  "+m.style.dim.Render(text))
		}
	case len(s.hits) == 0:
		lines = append(lines, "  "+m.style.dim.Render("no message in your spaces matches"))
	}
	room := max(1, (l.body-len(lines))/hitLines)
	from := max(0, s.at-room+1)
	for i, hit := range s.hits[from:min(len(s.hits), from+room)] {
		lines = append(lines, m.drawHit(hit, l.middle, from+i == s.at)...)
	}
	return lines
}

const searchLabel = "Search: "

// drawHit returns the lines of a hit: where, who and when, and the excerpt with its matches.
func (m *model) drawHit(hit shoal.Hit, width int, selected bool) []string {
	edge := "  "
	if selected {
		edge = m.style.busy.Render("▌ ")
	}
	head := m.style.speaker(hit.Message.EntityID).Render(cut(m.name(hit.Message.EntityID), width/2)) + "  " +
		m.style.dim.Render(cut(hit.Space.Name, 32)+", "+hit.Message.CreatedAt.In(m.zone).Format("2 Jan 2006 15:04"))
	return []string{edge + ansi.Truncate(head, width, "…"), edge + "  " + ansi.Truncate(m.excerpt(hit), width-2, "…")}
}

// excerpt returns the excerpt of a hit on one safe line, with its matches emphasized.
func (m *model) excerpt(hit shoal.Hit) string {
	text := strings.NewReplacer("\n", " ", "\t", " ").Replace(hit.Highlight) // as long as before
	var b strings.Builder
	at := 0
	for _, r := range hit.Matches {
		if r[0] < at || r[1] < r[0] || r[1] > len(text) {
			break // invalid ranges
		}
		b.WriteString(safetext.Line(text[at:r[0]]) + m.style.ask.Render(safetext.Line(text[r[0]:r[1]])))
		at = r[1]
	}
	return b.String() + safetext.Line(text[at:])
}
