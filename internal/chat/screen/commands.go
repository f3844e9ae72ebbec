package screen

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
)

// command executes a text that is one of the commands of the composer, and reports whether it is.
// Every other text is a message, with one slash less if it begins with two.
func (m *model) command(text string) (then tea.Cmd, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "/stop":
		return m.stop(shoal.EntityID(strings.TrimPrefix(rest, "@"))), true
	case "/search":
		return m.openSearch(rest), true
	}
	return nil, false
}

// stopped is the outcome of stopping a run.
type stopped struct {
	run shoal.Run
	err error
}

// stop cancels a run: that of the selected message if it is being written, and otherwise that of
// an agent in the current space; an empty agent means the only one that is active.
func (m *model) stop(agent shoal.EntityID) tea.Cmd {
	if !m.state.Live || m.space == "" {
		m.note = "the connection is lost: agents can be stopped when it is back"
		return nil
	}
	m.note = "stopping …"
	space, selected := m.space, m.selectedRun()
	return m.call(func(ctx context.Context) tea.Msg {
		if selected != "" && agent == "" {
			run, err := m.session.CancelRun(ctx, selected)
			return stopped{run, err}
		}
		var active []shoal.Run
		for r, err := range m.session.Runs(ctx, client.RunsOptions{Space: space, Status: chat.ActiveStatuses}) {
			if err != nil {
				return stopped{err: err}
			}
			active = append(active, r)
		}
		run, err := chat.RunToStop(active, agent)
		if err == nil {
			run, err = m.session.CancelRun(ctx, run.ID)
		}
		return stopped{run, err}
	})
}

// selectedRun returns the run that is writing the selected message.
func (m *model) selectedRun() shoal.RunID {
	sp := m.state.Space(m.space)
	if sp == nil || m.timeline.selected == "" {
		return ""
	}
	for _, msg := range sp.Messages {
		if messageStop(msg.ID) == m.timeline.selected && msg.Status == shoal.MessageStreaming && msg.RunID != nil {
			return *msg.RunID
		}
	}
	return ""
}

// stoppedNow processes the outcome of stopping a run. The timeline shows the end itself.
func (m *model) stoppedNow(in stopped) {
	switch {
	case in.err != nil:
		m.note = sentence(in.err)
	case in.run.Status.Ended():
		m.note = "stopped " + m.name(in.run.AgentID)
	default:
		m.note = m.name(in.run.AgentID) + " is being stopped"
	}
}

// writingAgent returns an agent that is writing in the current space, empty for none.
func (m *model) writingAgent() shoal.EntityID {
	sp := m.state.Space(m.space)
	if sp == nil {
		return ""
	}
	for _, msg := range sp.Messages {
		if msg.Status == shoal.MessageStreaming && msg.RunID != nil {
			return msg.EntityID
		}
	}
	return ""
}
