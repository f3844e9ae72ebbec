package chat_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/chattest"
	"github.com/shoal-dev/shoal/internal/storytest"
)

var update = flag.Bool("update", false, "write what happens into the stories")

// Stories of ann's view: events in the notation of chattest, and
//
//	lost, back              the connection
//	list ID…                the server's list of pending actions arrives; "stale" requests it
//	stale                   shows whether that list must be requested
//	fill SPACE MSG…         a requested page arrives
//	read SPACE              the space is marked as read
//	choose [SPACE]          shows the space that opens by default, optionally with a preference
//	many SPACE MSG MSG WHO  the server stores messages in a range of seqs
//	unseen EVENT            an event while the connection is lost
//	brief                   omits the newest messages from the output
//
// followed by the complete state.
func TestStories(t *testing.T) {
	storytest.Play(t, "testdata/*.txt", 5, *update, func(t *testing.T, _, text string) string {
		w, s := chattest.New(), chat.New("ann")
		return storytest.Blocks(t, text, func(commands string) string {
			var seen strings.Builder
			for line := range strings.Lines(commands) {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				play(t, w, s, line, &seen)
			}
			if strings.HasPrefix(commands, "# ") && strings.Count(commands, "\n#") == strings.Count(commands, "\n") {
				return "" // only prose
			}
			return seen.String() + picture(s, strings.Contains(commands, "brief"))
		})
	})
}

func play(t *testing.T, w *chattest.World, s *chat.State, line string, seen *strings.Builder) {
	t.Helper()
	a := chattest.Words(line)
	switch a[0] {
	case "lost":
		s.Lost()
	case "back":
		s.Back()
	case "stale":
		fmt.Fprintf(seen, "stale: %t\n", s.PendingStale())
	case "list":
		var all []shoal.PendingAction
		for _, id := range a[1:] {
			all = append(all, w.Pending(shoal.PendingID(id)))
		}
		s.PendingList(all)
	case "fill":
		for _, seq := range a[2:] {
			s.Fill([]shoal.Message{*w.Message(shoal.SpaceID(a[1]), seq)})
		}
	case "read":
		fmt.Fprintf(seen, "read up to %d\n", s.Read(shoal.SpaceID(a[1])))
	case "brief":
	case "unseen":
		if _, err := w.Events(strings.TrimPrefix(line, "unseen ")); err != nil {
			t.Fatal(err)
		}
	case "many":
		from, _ := strconv.Atoi(a[2]) // stories contain valid numbers
		to, _ := strconv.Atoi(a[3])
		for n := from; n <= to; n++ {
			if _, err := w.Events(fmt.Sprintf("stored %s %d %s %d", a[1], n, a[4], n)); err != nil {
				t.Fatal(err)
			}
		}
	case "choose":
		fmt.Fprintf(seen, "opens %s\n", s.Choose(shoal.SpaceID(append(a, "")[1])))
	default:
		events, err := w.Events(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// picture returns the state as text.
func picture(s *chat.State, brief bool) string {
	var b strings.Builder
	for _, sp := range s.Spaces() {
		fmt.Fprintf(&b, "%s last=%d", sp.ID, sp.LastSeq)
		if sp.UnreadCount > 0 {
			fmt.Fprintf(&b, " unread=%d", sp.UnreadCount)
		}
		if sp.MentionCount > 0 {
			fmt.Fprintf(&b, " mentions=%d", sp.MentionCount)
		}
		if sp.Status == shoal.SpaceStatusClosed {
			b.WriteString(" closed")
		}
		if from := sp.Missing(); from > 0 {
			fmt.Fprintf(&b, " missing from %d", from)
		}
		b.WriteString("\n")
		for i, m := range sp.Messages {
			if brief && i > 5 {
				fmt.Fprintf(&b, "  and %d more\n", len(sp.Messages)-i)
				break
			}
			fmt.Fprintf(&b, "  %d %s", m.Seq, m.EntityID)
			if mark := s.Mark(m.Message); mark.Sign != "" {
				fmt.Fprintf(&b, " (%s)", mark)
			}
			b.WriteString("\n")
			for _, p := range m.Parts {
				fmt.Fprintf(&b, "    %s\n", part(s, m, p))
			}
		}
		for _, n := range sp.Notices {
			fmt.Fprintf(&b, "  after %d: %s\n", n.After, n.Text)
		}
		for run, thought := range sp.Thoughts {
			fmt.Fprintf(&b, "  %s thinks: %s\n", run, thought)
		}
		for _, p := range s.Waiting(sp.ID) {
			fmt.Fprintf(&b, "  %s waits for me\n", p.ID)
		}
	}
	return b.String()
}

func part(s *chat.State, m *chat.Message, p shoal.Part) string {
	mark := chat.PartMark(p)
	says := p.Text
	switch {
	case p.Private:
		return "(private)"
	case p.Type == shoal.ToolPart:
		says = p.ToolName + " " + m.Input(p)
		if p.Result != nil {
			says += " = " + string(p.Result)
		}
		if p.Error != "" {
			says += ": " + p.Error
		}
		if p.AnsweredBy != "" {
			says += " by " + string(p.AnsweredBy)
		}
	}
	if mark.Sign != "" {
		says += " [" + mark.String() + "]"
	}
	if a, ok := s.PendingOf(m, p); ok {
		says += " waits as " + string(a.ID)
	}
	return says
}
