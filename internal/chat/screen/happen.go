package screen

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat/feed"
)

// happened processes a batch of the stream.
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
	m.watch()
	return tea.Batch(follow...)
}

// arrive opens the first space once all spaces are known: the requested one, or the one that
// needs the person. It leaves a space that no longer exists.
func (m *model) arrive() tea.Cmd {
	if !m.state.Ready {
		return nil
	}
	sp := m.state.Space(m.space)
	switch {
	case m.timeline.space != "" && m.timeline.space == m.space && sp != nil:
		return nil
	case m.space != "" && sp == nil && m.timeline.space == "":
		return m.fail(shoal.E("chat", shoal.NotFound, fmt.Sprintf("%s is not a member of a space %q", m.state.Me, m.space)))
	case m.space != "" && sp != nil:
		return m.open(m.space)
	case m.space != "":
		m.note = fmt.Sprintf("you have left %s", m.space)
	}
	if m.waitForPending() {
		return nil
	}
	id := m.state.Choose(m.first)
	if id == "" {
		return m.fail(shoal.E("chat", shoal.NotFound, fmt.Sprintf(
			"%s is not a member of any space; create one with `shoal spaces create NAME`, or join one with `shoal spaces add SPACE %s`", m.state.Me, m.state.Me)))
	}
	return m.open(id)
}

// waitForPending reports whether the pending actions are not known yet.
func (m *model) waitForPending() bool {
	return m.session != nil && !m.timeline.listed && m.timeline.space == ""
}

// open shows a space: its newest messages, with a line before the unread ones.
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
	if m.focus == answering || m.focus == choosing || m.focus == searching {
		m.focusOn(writing)
	}
	return tea.Batch(m.read(), m.mend())
}

// mend fetches the missing messages of the current space.
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

// older fetches the messages before the first known one.
func (m *model) older() tea.Cmd {
	sp := m.state.Space(m.space)
	if sp == nil || m.timeline.fetching || len(sp.Messages) == 0 || sp.Messages[0].Seq <= 1 {
		return nil
	}
	m.timeline.fetching = true
	return m.fetch(m.space, client.MessagesOptions{Before: sp.Messages[0].Seq, Limit: olderPage})
}

// answered processes the result of a call.
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
		if m.state.PendingStale() { // more may have changed since
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
				return tea.Batch(m.mend(), m.approach())
			}
			return m.approach()
		}
	case retry:
		m.out.Again(in.key)
		return m.post()
	case posted:
		return m.postedNow(in)
	case settled:
		return m.settledNow(in)
	case stopped:
		m.stoppedNow(in)
	case found:
		m.foundNow(in)
	}
	return nil
}
