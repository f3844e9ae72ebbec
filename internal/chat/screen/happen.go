package screen

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat/feed"
)

// happened takes what the stream brought.
func (m *model) happened(in happened) tea.Cmd {
	if in.err != nil {
		return m.fail(in.err)
	}
	live := m.state.Live
	if err := in.batch.Into(m.state); err != nil {
		m.note = sentence(err)
	}
	follow := []tea.Cmd{m.next()}
	if m.state.Live && !live {
		follow = append(follow, m.people(), m.post())
	}
	if m.state.PendingStale() {
		follow = append(follow, m.listPending())
	}
	m.lookAtForm()
	follow = append(follow, m.arrive(), m.mend(), m.read())
	return tea.Batch(follow...)
}

// arrive opens a space once all are known: the one that was asked for, or the one
// that asks for the person. It leaves one that is not there any more.
func (m *model) arrive() tea.Cmd {
	if !m.state.Ready {
		return nil
	}
	sp := m.state.Space(m.space)
	switch {
	case m.timeline.space != "" && m.timeline.space == m.space && sp != nil:
		return nil
	case m.space != "" && sp == nil && m.timeline.space == "":
		return m.fail(shoal.E("chat", shoal.NotFound, fmt.Sprintf("%s is no member of a space %q", m.state.Me, m.space)))
	case m.space != "" && sp != nil:
		return m.open(m.space)
	case m.space != "":
		m.note = fmt.Sprintf("%s is gone: you are no member of it any more", m.space)
	}
	if m.waitForPending() {
		return nil
	}
	id := m.state.Choose(m.first)
	if id == "" {
		return m.fail(shoal.E("chat", shoal.NotFound, fmt.Sprintf(
			"%s is a member of no space; `shoal spaces create NAME` makes one, `shoal spaces add SPACE %s` adds to another", m.state.Me, m.state.Me)))
	}
	return m.open(id)
}

// waitForPending reports whether it is not known yet where something waits.
func (m *model) waitForPending() bool {
	return m.session != nil && !m.timeline.listed && m.timeline.space == ""
}

// open shows a space: its newest messages, with a line before what is unread.
func (m *model) open(id shoal.SpaceID) tea.Cmd {
	sp := m.state.Space(id)
	if sp == nil {
		return nil
	}
	if m.timeline.space != "" {
		m.drafts[m.timeline.space] = m.composer.Value()
	}
	m.composer.SetValue(m.drafts[id])
	m.space, m.form = id, nil
	m.timeline.open(sp, m.state.Me)
	if m.focus == answering || m.focus == choosing {
		m.focusOn(writing)
	}
	return tea.Batch(m.read(), m.mend())
}

// mend fetches what is missing in the space that is shown.
func (m *model) mend() tea.Cmd {
	sp := m.state.Space(m.space)
	if sp == nil || m.timeline.fetching {
		return nil
	}
	from := sp.Missing()
	if from == 0 {
		return nil
	}
	m.timeline.fetching = true
	return m.fetch(m.space, feed.Page(from))
}

// older fetches what was said before the first message that is there.
func (m *model) older() tea.Cmd {
	sp := m.state.Space(m.space)
	if sp == nil || m.timeline.fetching || len(sp.Messages) == 0 || sp.Messages[0].Seq <= 1 {
		return nil
	}
	m.timeline.fetching = true
	return m.fetch(m.space, client.MessagesOptions{Before: sp.Messages[0].Seq, Limit: olderPage})
}

// answered takes what a call brought back.
func (m *model) answered(what tea.Msg) tea.Cmd {
	switch in := what.(type) {
	case listed:
		if in.err != nil {
			m.state.PendingFailed()
		} else {
			m.state.PendingList(in.pending)
			m.timeline.listed = true
		}
		m.lookAtForm()
		again := tea.Cmd(nil)
		if m.state.PendingStale() { // more may have happened since
			again = m.listPending()
		}
		return tea.Batch(m.arrive(), again)
	case met:
		m.state.People(in.people)
	case counted:
		m.state.Counts(in.spaces)
		return m.read()
	case ticked:
		return tea.Batch(m.counts(), m.tick())
	case fetched:
		m.timeline.fetching = false
		if sp := m.state.Space(m.space); sp != nil {
			before := sp.Missing()
			m.state.Fill(in.messages)
			if in.err != nil || sp.Missing() != before {
				return m.mend()
			}
		}
	case retry:
		m.out.Again(in.key)
		return m.post()
	case posted:
		return m.postedNow(in)
	case settled:
		return m.settledNow(in)
	}
	return nil
}
