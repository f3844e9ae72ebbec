// Package screen shows conversations on the whole terminal: the spaces at the left, the
// timeline in the middle, the members at the right, and below it the composer or the form of an
// answer.
//
//	err := screen.Run(ctx, screen.Options{Session: session, Me: "ann", Space: "shop", In: os.Stdin, Out: os.Stdout})
//
// Guarantees:
//   - Text of others is displayed and never interpreted: all of it passes through
//     [safetext.Clean].
//   - The screen is drawn at most thirty times a second, at any rate of events.
//   - A state is shown by a sign and a word; colours only repeat it.
//   - No single key answers a pending action: a decision is typed and sent with Enter. While
//     the connection is lost, answers cannot be sent and messages are queued.
//   - Drawing is a function of the model: the output for a size is tested as text.
//   - When Run returns, the terminal is restored and no goroutine is left.
package screen

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/feed"
)

// Options select the conversation and the terminal.
type Options struct {
	Session *client.Session
	Me      shoal.EntityID
	// Space is opened first. If empty, it is the space with a pending action or the newest
	// message, and First if no space has messages.
	Space, First shoal.SpaceID
	// In and Out are the terminal.
	In, Out *os.File
}

// Run shows the conversation until the person leaves, which is not an error, until ctx ends,
// which returns its cause, or until the server refuses to continue. The error is NotFound if
// the entity is not a member of Space or not a member of any space.
func Run(ctx context.Context, o Options) error {
	life, end := context.WithCancel(ctx)
	events := feed.Start(life, o.Session)
	m := newModel(o.Me, o.Space, time.Now, time.Local)
	m.session, m.events, m.life, m.first = o.Session, events, life, o.First
	program := tea.NewProgram(
		m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(30), tea.WithoutSignalHandler(),
	)
	_, err := program.Run()
	end()
	events.Stop()
	m.under.finish()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case m.failure != nil:
		return m.failure
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

// focus is the target of key presses.
type focus int

const (
	writing   focus = iota // the composer
	reading                // the timeline
	choosing               // the list of spaces
	answering              // the form of a pending action
	helping                // the list of keys
	searching              // the search
)

// model is the state of the screen. Its methods draw and decide; calls to the server are
// commands that the program runs concurrently.
type model struct {
	session *client.Session
	events  *feed.Feed
	life    context.Context
	under   underway
	now     func() time.Time
	zone    *time.Location

	state         *chat.State
	out           chat.Outbox
	style         style
	width, height int
	away          bool // whether the terminal has lost the focus

	space    shoal.SpaceID
	first    shoal.SpaceID
	focus    focus
	before   focus // the focus before the list or the help was opened
	composer textarea.Model
	pick     int // index of the selected candidate of a mention
	unpicked string
	drafts   map[shoal.SpaceID]string
	form     *form
	places   places
	search   search
	timeline timeline
	panel    panel
	note     string
	failure  error
	keys     int // number of idempotency keys created
	prefix   string
}

// panel is the visibility of the members.
type panel int

const (
	whenWide panel = iota
	shown
	hidden
)

func newModel(me shoal.EntityID, space shoal.SpaceID, now func() time.Time, zone *time.Location) *model {
	m := &model{
		now: now, zone: zone, state: chat.New(me), style: newStyle(), space: space, drafts: map[shoal.SpaceID]string{},
		width: 80, height: 24, prefix: rand.Text(),
	}
	m.composer = newInput("Write a message, @ mentions somebody")
	m.composer.Focus()
	m.timeline.clear()
	return m
}

// newInput returns an input of one or more lines without decoration.
func newInput(placeholder string) textarea.Model {
	in := textarea.New()
	in.Placeholder = placeholder
	in.Prompt, in.ShowLineNumbers, in.CharLimit = "", false, shoal.MaxContent
	in.DynamicHeight, in.MinHeight, in.MaxHeight, in.MaxContentHeight = true, 1, 5, 5000
	in.EndOfBufferCharacter = ' '
	in.SetVirtualCursor(false)
	in.SetStyles(inputStyles())
	in.KeyMap.Paste.SetEnabled(false) // the terminal handles pasting; the widget would run programs
	in.KeyMap.CopySelection.SetEnabled(false)
	in.KeyMap.InsertNewline.SetKeys("alt+enter", "shift+enter", "ctrl+j")
	return in
}

// Init starts to follow the session.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.next(), m.people(), m.tick())
}

// Update processes one message of the program.
func (m *model) Update(what tea.Msg) (tea.Model, tea.Cmd) {
	switch what := what.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = what.Width, what.Height
		return m, nil
	case tea.KeyPressMsg:
		return m, m.key(what)
	case tea.PasteMsg:
		return m, m.paste(what)
	case tea.FocusMsg:
		m.away = false
		return m, m.read()
	case tea.BlurMsg:
		m.away = true
		return m, nil
	case happened:
		return m, m.happened(what)
	}
	return m, m.answered(what)
}

// fail ends the program with an error.
func (m *model) fail(err error) tea.Cmd {
	m.failure = err
	return tea.Quit
}
