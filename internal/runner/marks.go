package runner

import "slices"

// mark is how far an agent has got with the message of a run, as far as its runner knows. It is
// written before the agent can get further, so that a runner that is killed leaves it to the next one:
// the server may know less.
type mark struct {
	Run   string `json:"run"`
	State stage  `json:"state"`
	// AtWork are the tool calls that had begun and not ended.
	AtWork []markedCall `json:"atWork,omitempty"`
	// Question is the id of the question what to do, if it was asked.
	Question string `json:"question,omitempty"`
}

type markedCall struct {
	CallID string `json:"callId"`
	Title  string `json:"title"`
}

type stage string

const (
	// stageGiven means that the agent is given the message, and has said nothing yet. If that is
	// what a killed runner leaves, nobody knows whether the agent has begun.
	stageGiven stage = "given"
	// stageUnread means that the agent may have the message in its conversation and has done nothing
	// about it: it has ended before.
	stageUnread stage = "unread"
	// stageBegun means that its model has the message.
	stageBegun stage = "begun"
)

// maxMarks bounds for how many runs it is remembered how far the agent has got.
const maxMarks = 20

// mark returns how far the agent has got with a run in this conversation.
func (r *refs) mark(c conversation, kind, dir, run string) (m mark, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	marks := r.known(c, kind, dir).Marks
	i := slices.IndexFunc(marks, func(m mark) bool { return m.Run == run })
	if i < 0 {
		return m, false
	}
	return marks[i], true
}

// put stores the ref of a conversation, unless it is empty, and how far the agent has got with a run.
func (r *refs) put(c conversation, kind, dir, value string, m mark) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known(c, kind, dir)
	if value != "" && value != one.Ref {
		if one.Ref != "" { // another conversation has nothing of this one
			one.Marks = nil
		}
		one.Ref = value
	}
	if m.Run != "" {
		one.Marks = slices.DeleteFunc(slices.Clone(one.Marks), func(known mark) bool { return known.Run == m.Run })
		one.Marks = append(one.Marks, m)
		one.Marks = one.Marks[max(0, len(one.Marks)-maxMarks):]
	}
	return r.store(c, one)
}
