package screen

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat/chattest"
	"github.com/shoal-dev/shoal/internal/storytest"
)

var update = flag.Bool("update", false, "rewrite the stories with the actual output")

// Stories of ann's terminal: events in the notation of chattest, and
//
//	size WIDTH HEIGHT
//	open SPACE              starts with this space
//	lost, back              the connection
//	type TEXT               types key by key
//	key NAME…               presses keys by their names
//	accepted | refused ID [TEXT]   the server's response to an answer
//	posted N, refuse N TEXT        the server's response to the Nth message
//	older SPACE MSG MSG     a page of older messages arrives
//	found QUERY [SPACE MSG]…       the server's response to a search
//	unfound QUERY TEXT             the same, a refusal
//	stopped AGENT | unstopped TEXT the server's response to stopping a run
//
// and, below four dashes, the screen without its colours. Trailing spaces of a line are
// removed.
func TestScreens(t *testing.T) {
	storytest.Play(t, "testdata/*.txt", 5, *update, func(t *testing.T, _, text string) string {
		s := &stage{t: t, world: chattest.New()}
		s.model = newModel("ann", "", func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }, time.UTC)
		s.model.prefix = "key"
		return storytest.Blocks(t, text, func(commands string) string {
			prose := true
			for line := range strings.Lines(commands) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					prose = false
					s.play(line)
				}
			}
			if prose {
				return ""
			}
			return s.screen()
		})
	})
}

type stage struct {
	t     *testing.T
	world *chattest.World
	model *model
	quit  bool
}

func (s *stage) tell(what tea.Msg) {
	_, then := s.model.Update(what)
	if then == nil {
		return
	}
	// The story plays the server, so commands are not run; only the end is checked.
	if _, quit := then().(tea.QuitMsg); quit {
		s.quit = true
	}
}

func (s *stage) play(line string) {
	s.t.Helper()
	m := s.model
	a := append(chattest.Words(line), "", "", "")
	number := func(word string) int {
		n, err := strconv.Atoi(word)
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		return n
	}
	switch a[0] {
	case "size":
		s.tell(tea.WindowSizeMsg{Width: number(a[1]), Height: number(a[2])})
	case "open":
		m.space = shoal.SpaceID(a[1])
	case "lost":
		m.state.Lost()
	case "back":
		m.state.Back()
		s.tell(happened{})
	case "type":
		for _, r := range a[1] {
			s.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	case "key":
		for _, name := range a[1:] {
			if name != "" {
				s.tell(key(s.t, name))
			}
		}
	case "accepted":
		p := s.world.Pending(shoal.PendingID(a[1]))
		by := m.state.Me
		p.Status, p.AnsweredBy = shoal.PendingAnswered, &by
		s.tell(settled{id: p.ID, action: p})
	case "refused":
		s.tell(settled{id: shoal.PendingID(a[1]), err: shoal.E("", shoal.InvalidArgument, a[2])})
	case "posted":
		key := fmt.Sprintf("key-%s", a[1])
		for _, o := range m.out.Of(m.space) {
			if o.Key == key {
				sp := m.state.Space(m.space)
				s.tell(posted{key: key, message: shoal.Message{
					ID: shoal.MessageID(key), SpaceID: sp.ID, Seq: sp.LastSeq + 1, EntityID: m.state.Me, Status: shoal.MessageCompleted,
					CreatedAt: shoal.At(m.now()), Mentions: o.Mentions, Parts: []shoal.Part{shoal.Text(o.Text)},
				}})
			}
		}
	case "refuse":
		s.tell(posted{key: "key-" + a[1], err: shoal.E("", shoal.SpaceClosed, a[2])})
	case "older":
		var all []shoal.Message
		for n := number(a[2]); n <= number(a[3]); n++ {
			all = append(all, *s.world.Message(shoal.SpaceID(a[1]), a[2]))
			all[len(all)-1].Seq, all[len(all)-1].ID = int64(n), shoal.MessageID(fmt.Sprint("m", n))
		}
		s.tell(fetched{messages: all})
	case "found":
		in := found{query: a[1]}
		for i := 2; a[i] != ""; i += 2 {
			msg := *s.world.Message(shoal.SpaceID(a[i]), a[i+1])
			hit := shoal.Hit{Space: shoal.SpaceRef{ID: msg.SpaceID, Name: m.state.Space(msg.SpaceID).Name}, Message: msg, Highlight: msg.Text()}
			if at := strings.Index(hit.Highlight, a[1]); at >= 0 {
				hit.Matches = [][2]int{{at, at + len(a[1])}}
			}
			in.hits = append(in.hits, hit)
		}
		s.tell(in)
	case "unfound":
		s.tell(found{query: a[1], err: shoal.E("", shoal.InvalidArgument, a[2])})
	case "stopped":
		s.tell(stopped{run: shoal.Run{AgentID: shoal.EntityID(a[1]), Status: shoal.RunCanceled}})
	case "unstopped":
		s.tell(stopped{err: shoal.E("", shoal.NotFound, a[1])})
	default:
		events, err := s.world.Events(line)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			if err := m.state.Apply(e); err != nil {
				s.t.Fatal(err)
			}
		}
		s.tell(happened{})
	}
}

func key(t *testing.T, name string) tea.KeyPressMsg {
	t.Helper()
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	if name == "alt+enter" {
		return tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt}
	}
	if len(name) != 1 {
		t.Fatalf("unknown key %s", name)
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}

// screen returns the screen and checks the invariants of every screen.
func (s *stage) screen() string {
	s.t.Helper()
	if s.quit {
		if s.model.failure != nil {
			return "left: " + sentence(s.model.failure) + "\n"
		}
		return "left\n"
	}
	lines := s.model.draw()
	if len(lines) > s.model.height {
		s.t.Errorf("got %d lines on a screen of %d", len(lines), s.model.height)
	}
	var b strings.Builder
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > s.model.width {
			s.t.Errorf("line %d is %d columns wide on %d: %q", i+1, w, s.model.width, line)
		}
		// An empty line would end the block.
		b.WriteString("|" + strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return b.String() + s.cursor(lines)
}

// cursor returns the text before the cursor.
func (s *stage) cursor(lines []string) string {
	c := s.model.cursor()
	if c == nil {
		return "no cursor\n"
	}
	if c.Y < 0 || c.Y >= len(lines) {
		s.t.Errorf("the cursor is in line %d of %d", c.Y, len(lines))
		return ""
	}
	return fmt.Sprintf("cursor after %q\n", strings.TrimRight(ansi.Strip(ansi.Truncate(lines[c.Y]+strings.Repeat(" ", 200), c.X, "")), " "))
}

// Text of others is never interpreted, wherever it is shown: names, texts, arguments, results,
// errors, summaries, options.
func TestNothingOfOthersIsObeyed(t *testing.T) {
	const evil = "\x1b[31mred\x1b]0;title\a \u202egnp\u2066 \u009b2J \r\bend"
	quoted := strconv.Quote(evil)
	s := &stage{t: t, world: chattest.New()}
	s.model = newModel("ann", "shop", time.Now, time.UTC)
	for _, line := range []string{
		"size 130 40", "snapshot shop ann bot", "ready", "back", "say shop 1 bot " + quoted, "begin shop 2 bot run_1", "text shop 2 p1",
		"delta shop 2 p1 0 " + quoted, "tool shop 2 p2 " + quoted, "input shop 2 p2 0 " + quoted, "call shop 2 p3 " + quoted + ` {"\u001b[31mx":"\u001b[2J"}`,
		"error shop 2 p3 error " + quoted, "asks pnd_1 shop " + quoted + " " + quoted, "run shop run_1 failed " + quoted + " " + quoted,
		"entity bot running " + quoted, "think shop run_2 " + quoted, "key ctrl+o enter", "refused pnd_1 " + quoted,
	} {
		s.play(line)
	}
	drawn := strings.Join(s.model.draw(), "\n")
	for _, r := range ansi.Strip(drawn) {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
			t.Errorf("the screen contains %U", r)
		}
	}
	// The remaining sequences are only our own colours.
	for _, part := range strings.Split(drawn, "\x1b")[1:] {
		if end := strings.IndexByte(part, 'm'); part[0] != '[' || end < 0 || strings.Trim(part[1:end], "0123456789;") != "" {
			t.Errorf("the screen contains the sequence %.12q", part)
		}
	}
	if !strings.Contains(drawn, "red") || !strings.Contains(drawn, "end") {
		t.Errorf("the text itself is not shown:\n%s", ansi.Strip(drawn))
	}
	m := s.model.state.Space("shop")
	m.Name = evil
	if bar := ansi.Strip(s.model.bar()); strings.ContainsAny(bar, "\x1b\a\r") {
		t.Errorf("got the bar %q", bar)
	}
}

// A hit that is older than what is loaded is selected once it is fetched; one that is too far back
// is given up.
func TestOldHitsAreFetched(t *testing.T) {
	s := &stage{t: t, world: chattest.New()}
	s.model = newModel("ann", "shop", time.Now, time.UTC)
	m := s.model
	for n := 1; n <= 80; n++ {
		if _, err := s.world.Events(fmt.Sprintf("stored shop %d bob %d", n, n)); err != nil {
			t.Fatal(err)
		}
	}
	s.play("snapshot shop ann bob")
	s.play("ready")
	s.play("back")
	m.goTo(*s.world.Message("shop", "7"))
	if m.timeline.selected != "" || !m.timeline.fetching || m.timeline.target != 7 {
		t.Fatalf("before the page: %+v", m.timeline)
	}
	var page []shoal.Message
	for n := 1; n <= 30; n++ {
		page = append(page, *s.world.Message("shop", strconv.Itoa(n)))
	}
	s.tell(fetched{messages: page})
	if m.timeline.selected != messageStop("m7") || m.timeline.target != 0 || !strings.Contains(s.screen(), "▌   7\n") {
		t.Errorf("after the page %q is selected:\n%s", m.timeline.selected, s.screen())
	}

	m.goTo(*s.world.Message("shop", "60")) // loaded
	if m.timeline.selected != messageStop("m60") || m.timeline.fetching {
		t.Errorf("%q is selected", m.timeline.selected)
	}

	m = newModel("ann", "shop", time.Now, time.UTC)
	s.model = m
	s.play("snapshot shop ann bob")
	s.play("ready")
	s.play("back")
	m.goTo(*s.world.Message("shop", "7"))
	for range maxApproach {
		if !m.timeline.fetching {
			t.Fatal("it is given up too early")
		}
		s.tell(fetched{})
	}
	if m.timeline.target != 0 || !strings.Contains(m.note, "too far back") {
		t.Errorf("it goes on: %+v %q", m.timeline, m.note)
	}
}

// For any size of the terminal the screen is drawn without errors.
func TestEverySize(t *testing.T) {
	s := &stage{t: t, world: chattest.New()}
	s.model = newModel("ann", "shop", time.Now, time.UTC)
	for _, line := range []string{
		"snapshot shop ann bot", "ready", "back", `say shop 1 bot "你好 👩‍👩‍👧 a longer text that has to be wrapped somewhere"`, "begin shop 2 bot",
		`call shop 2 p1 pay {"amount":12,"to":"somebody"}`, `waits pnd_1 permission shop 2 p1 pay {"amount":12,"to":"somebody"}`, "key esc k",
	} {
		s.play(line)
	}
	for _, keys := range []string{"key esc", "key ctrl+o", "key enter", "key esc ?", "key esc ctrl+k", "key esc", "key ctrl+f", "type laptop", "key enter", "key esc", "type @b"} {
		s.play(keys)
		for width := 1; width <= 140; width += 7 {
			for height := 1; height <= 40; height += 3 {
				s.play(fmt.Sprintf("size %d %d", width, height))
				if s.screen() == "" {
					t.Errorf("got an empty screen at %d × %d", width, height)
				}
				s.model.scroll(-1)
				s.model.scroll(1 << 20)
			}
		}
	}
}
