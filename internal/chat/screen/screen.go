// Package screen is a conversation over the whole terminal: the spaces at the
// left, what is said in the middle, who is there at the right, and below what one
// writes or answers.
//
//	err := screen.Run(ctx, screen.Options{Session: session, Me: "ann", Space: "shop", In: os.Stdin, Out: os.Stdout})
//
// It promises:
//   - What others wrote is shown and never obeyed: all of it passes
//     [safetext.Clean].
//   - The screen is drawn at most thirty times a second, however fast somebody
//     writes.
//   - A state is told by a sign and a word; colours only repeat it.
//   - No single key answers anything: a decision is typed and sent with Enter.
//     While the connection is lost nothing is answered, and messages wait.
//   - Drawing is a function of the model: what is shown at a size is tested as
//     text.
//   - When Run returns, the terminal is as before and no goroutine is left.
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

// Options say whose conversation is shown where.
type Options struct {
	Session *client.Session
	Me      shoal.EntityID
	// Space is opened first; empty, the one where something waits or the newest,
	// and First where nothing was said anywhere yet.
	Space, First shoal.SpaceID
	// In and Out are the terminal.
	In, Out *os.File
}

// Run shows the conversation until the person leaves, which is no error, or ctx
// ends, which is its cause, or the server refuses to go on. A Space that the
// entity is no member of, or that it is a member of none at all, is NotFound.
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

// focus is what keys go to.
type focus int

const (
	writing   focus = iota // the composer
	reading                // the timeline
	choosing               // the list of spaces
	answering              // the form of a pending action
	helping                // the list of keys
)

// model is the whole screen. Its methods draw and decide; calls to the server are
// commands, which the program runs beside it.
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
	away          bool // whether the terminal is not looked at

	space    shoal.SpaceID
	first    shoal.SpaceID
	focus    focus
	before   focus // what the list or the help stands over
	composer textarea.Model
	pick     int // of the members that a mention may become
	unpicked string
	drafts   map[shoal.SpaceID]string
	form     *form
	places   places
	timeline timeline
	panel    panel
	note     string
	failure  error
	keys     int // of the idempotency keys that were made
	prefix   string
}

// panel says whether the members are shown.
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

// newInput returns an input of one line or more that looks like nothing.
func newInput(placeholder string) textarea.Model {
	in := textarea.New()
	in.Placeholder = placeholder
	in.Prompt, in.ShowLineNumbers, in.CharLimit = "", false, shoal.MaxContent
	in.DynamicHeight, in.MinHeight, in.MaxHeight, in.MaxContentHeight = true, 1, 5, 5000
	in.EndOfBufferCharacter = ' '
	in.SetVirtualCursor(false)
	in.SetStyles(inputStyles())
	in.KeyMap.Paste.SetEnabled(false) // the terminal pastes; this would run programs
	in.KeyMap.CopySelection.SetEnabled(false)
	in.KeyMap.InsertNewline.SetKeys("alt+enter", "shift+enter", "ctrl+j")
	return in
}

// Init begins to follow.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.next(), m.people(), m.tick())
}

// Update takes one thing that happened.
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
