package openaiapi

import (
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
)

// responsesForm shows an answer as a response: each text of the agent is an output item of its own, so the text
// of an item is exactly what is stored.
type responsesForm struct {
	response response
	items    []*item
	texts    map[*part]*item // the item that shows a text now
	thinking *item           // the reasoning that has not ended, nil for none
	out      []any
	sequence int
}

// item is an output item of a response.
type item struct {
	id    string
	index int
	kind  string // message, reasoning or function_call
	text  string // the text, or the arguments of a call
	name  string // of the tool that is called
	call  string // the id of the call
	ended bool
}

// newResponsesForm returns the form of a response that begins.
func newResponsesForm(r response) *responsesForm {
	f := &responsesForm{response: r, texts: map[*part]*item{}}
	f.add(event{Type: eventCreated, Response: f.snapshot()})
	f.add(event{Type: eventInProgress, Response: f.snapshot()})
	return f
}

// add adds an event.
func (f *responsesForm) add(e event) {
	e.Sequence = f.sequence
	f.sequence++
	f.out = append(f.out, e)
}

// snapshot returns the response as it is now.
func (f *responsesForm) snapshot() *response {
	now := f.response
	now.Output = slices.Clone(f.response.Output)
	return &now
}

// about returns an event about an item.
func about(i *item, what string) event { return event{Type: what, ItemID: i.id, OutputIndex: &i.index} }

// begin adds an item.
func (f *responsesForm) begin(kind string) *item {
	if f.thinking != nil {
		f.end(f.thinking)
		f.thinking = nil
	}
	index := len(f.items)
	i := &item{id: fmt.Sprintf("%s_%d", f.response.ID, index), index: index, kind: kind}
	f.items = append(f.items, i)
	return i
}

// announce adds the events with which an item begins.
func (f *responsesForm) announce(i *item) {
	shown := i.output(inProgress, "")
	f.add(event{Type: eventItemAdded, OutputIndex: &i.index, Item: &shown})
	switch i.kind {
	case kindMessage:
		e := about(i, eventPartAdded)
		e.ContentIndex, e.Part = new(int), textPart("")
		f.add(e)
	case kindReasoning:
		e := about(i, eventSummaryAdded)
		e.SummaryIndex, e.Part = new(int), summaryPart("")
		f.add(e)
	}
}

// grow adds a piece to an item.
func (f *responsesForm) grow(i *item, piece string) {
	i.text += piece
	var e event
	switch i.kind {
	case kindMessage:
		e = about(i, eventTextDelta)
		e.ContentIndex, e.Logprobs = new(int), &[]any{}
	case kindReasoning:
		e = about(i, eventSummaryDelta)
		e.SummaryIndex = new(int)
	default:
		e = about(i, eventArgumentsDelta)
	}
	e.Delta = &piece
	f.add(e)
}

// end adds the events with which an item ends.
func (f *responsesForm) end(i *item) {
	if i.ended {
		return
	}
	i.ended = true
	whole := i.text // events are sent later
	switch i.kind {
	case kindMessage:
		text, closed := about(i, eventTextDone), about(i, eventPartDone)
		text.ContentIndex, text.Text, text.Logprobs = new(int), &whole, &[]any{}
		closed.ContentIndex, closed.Part = new(int), textPart(whole)
		f.add(text)
		f.add(closed)
	case kindReasoning:
		text, closed := about(i, eventSummaryDone), about(i, eventSummaryPartDone)
		text.SummaryIndex, text.Text = new(int), &whole
		closed.SummaryIndex, closed.Part = new(int), summaryPart(whole)
		f.add(text)
		f.add(closed)
	default:
		done := about(i, eventArgumentsDone)
		done.Arguments, done.Name = &whole, i.name
		f.add(done)
	}
	shown := i.output(completed, whole)
	f.add(event{Type: eventItemDone, OutputIndex: &i.index, Item: &shown})
}

func (f *responsesForm) text(x *part, piece string, again bool) {
	i := f.texts[x]
	if i != nil && (again || i.ended) {
		f.end(i)
		i, piece = nil, x.text
	}
	if i == nil {
		i = f.begin(kindMessage)
		f.texts[x] = i
		f.announce(i)
	}
	f.grow(i, piece)
}

func (f *responsesForm) ended(x *part) {
	if i := f.texts[x]; i != nil {
		f.end(i)
	}
}

func (f *responsesForm) think(text string) {
	if f.thinking == nil {
		i := f.begin(kindReasoning)
		f.thinking = i
		f.announce(i)
	}
	f.grow(f.thinking, text)
}

func (f *responsesForm) call(w shoal.PendingAction) {
	i := f.begin(kindCall)
	i.name, i.call = w.ToolName, exchange.CallID(w.RunID, w.ToolCallID)
	f.announce(i)
	f.grow(i, string(w.Args))
	f.end(i)
}

func (f *responsesForm) sayCancelled() bool { return true }

func (f *responsesForm) finish(texts []*part, reason string, u shoal.Usage) {
	for _, i := range f.items {
		f.end(i)
	}
	f.complete(texts, u)
	end := eventCompleted
	if reason == cancelled { // the protocol has no event for it; this is the one of answers that are not whole
		end, f.response.Status = eventIncomplete, cancelled
	}
	f.add(event{Type: end, Response: f.snapshot()})
}

func (f *responsesForm) whole(texts []*part, reason string, u shoal.Usage) any {
	f.complete(texts, u)
	if reason == cancelled {
		f.response.Status = cancelled
	}
	return f.response
}

// complete makes the response what it is at its end: without the items of texts that were taken back.
func (f *responsesForm) complete(texts []*part, u shoal.Usage) {
	current := map[*item]string{}
	for _, x := range texts {
		if i := f.texts[x]; i != nil {
			current[i] = x.text
		}
	}
	f.response.Output = []outputItem{}
	for _, i := range f.items {
		text := i.text
		if i.kind == kindMessage {
			text = current[i]
		}
		if text != "" {
			f.response.Output = append(f.response.Output, i.output(completed, text))
		}
	}
	f.response.Status, f.response.Usage = completed, responseUsageOf(u)
}

func (f *responsesForm) failed(e guard.OpenAIError) []any {
	f.response.Status, f.response.Error = failed, &responseError{Code: e.Code, Message: e.Message}
	f.add(event{Type: eventFailed, Response: f.snapshot()})
	return f.take()
}

func (f *responsesForm) close(*eventstream.Stream) error { return nil }

func (f *responsesForm) take() []any {
	out := f.out
	f.out = nil
	return out
}

// output returns the item as a client sees it. One in progress has no text.
func (i *item) output(status, text string) outputItem {
	out := outputItem{ID: i.id, Type: i.kind}
	content := []any{}
	switch i.kind {
	case kindMessage:
		if status == completed {
			content = append(content, textPart(text))
		}
		out.Status, out.Role, out.Content = status, "assistant", &content
	case kindReasoning:
		if status == completed {
			content = append(content, summaryPart(text))
		}
		out.Summary = &content
	default:
		out.Status, out.CallID, out.Name, out.Arguments = status, i.call, i.name, &text
	}
	return out
}
