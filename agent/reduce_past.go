package agent

import (
	"fmt"
	"slices"
	"strings"
)

// past is a history as a reduction sees it: its messages without the system
// messages, which always remain.
type past struct {
	all []Message
	at  []int // indexes in all of the messages that may be left out
}

func newPast(history []Message) *past {
	h := &past{all: history, at: make([]int, 0, len(history))}
	for i := range history {
		if history[i].Role != System {
			h.at = append(h.at, i)
		}
	}
	return h
}

func (h *past) message(i int) *Message { return &h.all[h.at[i]] }

// keptInput is how many consecutive user messages are kept together as the input of a
// turn. A longer sequence is not an input but a chat without answers.
const keptInput = 8

// view returns the system messages before the cut, the summary, the input of the
// turn that the cut goes through, and everything after the cut.
func (h *past) view(covers int, text string) []Message {
	if covers == 0 {
		return h.all[:len(h.all):len(h.all)]
	}
	cut := h.at[covers-1] + 1
	out := make([]Message, 0, len(h.all)-cut+keptInput+2)
	for i := range cut {
		if h.all[i].Role == System {
			out = append(out, h.all[i])
		}
	}
	if text != "" {
		out = append(out, summaryMessage(text))
	}
	from, to := h.pinned(covers)
	for i := from; i < to; i++ {
		out = append(out, *h.message(i))
	}
	return append(out, h.all[cut:]...)
}

// withoutThoughts returns a view without the reasoning of the first n messages of the
// history. A message that contains nothing else keeps its reasoning.
func (h *past) withoutThoughts(view []Message, n int) []Message {
	// What follows the n-th message is the end of every view.
	kept := 0
	if n < len(h.at) {
		kept = len(h.all) - h.at[n]
	}
	out := slices.Clone(view)
	for i := range max(0, len(out)-kept) {
		out[i] = withoutReasoning(out[i])
	}
	return out
}

func withoutReasoning(m Message) Message {
	rest := slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Type == ReasoningPart })
	if len(rest) > 0 && len(rest) < len(m.Parts) {
		m.Parts = rest
	}
	return m
}

// pinned returns the messages before the cut that remain because they are the input of
// the turn that continues after it. It depends only on the history before and
// right after the cut, so that later views agree.
func (h *past) pinned(covers int) (from, to int) {
	if covers == len(h.at) || h.isUser(covers) {
		return 0, 0
	}
	to = covers
	for to > 0 && !h.isUser(to-1) {
		to--
	}
	from = to
	for from > 0 && h.isUser(from-1) && to-from < keptInput {
		from--
	}
	return from, to
}

func (h *past) isUser(i int) bool {
	m := h.message(i)
	return m.Role == User && !m.Summary
}

// cuts returns, in order, the indexes after `after` before which everything may be
// removed: never inside a group of tool calls and results or a turn's input, and
// never after the last group.
func (h *past) cuts(after int) []int {
	var out []int
	following := 0 // user messages in a row, from i on
	for i := len(h.at) - 1; i > after && i > 0; i-- {
		if !h.isUser(i) {
			following = 0
			if h.message(i).Role != ToolRole {
				out = append(out, i)
			}
			continue
		}
		following++
		if !h.isUser(i-1) || following >= keptInput {
			out = append(out, i)
		}
	}
	slices.Reverse(out)
	return out
}

// lastCut returns the last cut after `after` and not after `limit`, or after.
func (h *past) lastCut(after, limit int) int {
	to := after
	for _, cut := range h.cuts(after) {
		if cut <= limit {
			to = cut
		}
	}
	return to
}

// lastSummary returns the index of the last message that is a summary, or -1.
func (h *past) lastSummary() int {
	for i := len(h.at) - 1; i >= 0; i-- {
		if h.message(i).Summary {
			return i
		}
	}
	return -1
}

// summaryHead explains the message to the model. A summary has the role of a user: every
// wire format accepts that at the start of a history, also before an answer, and none
// moves it into the instructions, where it would invalidate the cached prefix.
const summaryHead = "Summary of the conversation so far:\n\n"

func summaryMessage(text string) Message {
	return Message{Role: User, Summary: true, Parts: []Part{Text(summaryHead + text)}}
}

func summaryText(m *Message) string { return strings.TrimPrefix(m.Text(), summaryHead) }

// maxExcerpt is how many bytes of one part of a message the summarizer receives.
const maxExcerpt = 4 << 10

// text renders the messages from..to as a script, so that a model cannot mistake them
// for its own conversation or object to calls without results.
func (h *past) text(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		m := h.message(i)
		if m.Summary {
			continue // it is the summary so far
		}
		for _, p := range m.Parts {
			switch p.Type {
			case TextPart:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, cut(p.Text, maxExcerpt))
			case FilePart:
				fmt.Fprintf(&b, "%s: [file %s %s]\n", m.Role, p.File.Name, p.File.MediaType)
			case CallPart:
				fmt.Fprintf(&b, "%s calls %s: %s\n", m.Role, p.Call.Name, cut(p.Call.Arguments, maxExcerpt))
			case ResultPart:
				fmt.Fprintf(&b, "%s answers (%s): %s\n", p.Result.Name, p.Result.Status, cut(p.Result.Text, maxExcerpt))
			case ReasoningPart: // reasoning does not belong to the dialogue
			}
		}
	}
	return b.String()
}
