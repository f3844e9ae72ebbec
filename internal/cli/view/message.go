// Package view renders messages, events, pending actions and model requests as text for a
// terminal or a pipe.
package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// MessageText returns a message as text: its parts, its status if it failed or was canceled,
// its reactions, and whether it was edited.
func MessageText(m shoal.Message) string {
	if m.DeletedAt != nil {
		return "[deleted]"
	}
	var all []string
	for _, p := range m.Parts {
		all = append(all, PartText(p))
	}
	if m.Status == shoal.MessageFailed || m.Status == shoal.MessageCanceled {
		all = append(all, "["+string(m.Status)+"]")
	}
	for _, r := range m.Reactions {
		all = append(all, fmt.Sprintf("[%s %d]", r.Emoji, len(r.EntityIDs)))
	}
	if m.EditedAt != nil {
		all = append(all, "[edited]")
	}
	return strings.Join(all, "\n\n")
}

// PartText returns a part as text. A part that the caller may not see is only named.
func PartText(p shoal.Part) string {
	switch {
	case p.Private:
		return "[" + string(p.Type) + " for somebody else]"
	case p.Type == shoal.TextPart && p.Status == shoal.PartInterrupted:
		return p.Text + " [interrupted]"
	case p.Type == shoal.TextPart:
		return p.Text
	case p.Type == shoal.FilePart:
		return "[file " + p.Name + " " + p.URL + "]"
	case p.Type == shoal.ToolPart:
		return "[" + toolCallText(p) + "]"
	case p.Name == shoal.PromptsPart:
		if prompts := promptsText(p.Data); prompts != "" {
			return "[try " + prompts + "]"
		}
	}
	return "[" + string(p.Type) + " " + p.Name + "]"
}

// promptsText returns the messages that a part offers, quoted; empty if it offers none.
func promptsText(data json.RawMessage) string {
	var offer struct{ Prompts []string }
	if json.Unmarshal(data, &offer) != nil {
		return ""
	}
	quoted := make([]string, len(offer.Prompts))
	for i, text := range offer.Prompts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, ", ")
}

// toolCallText returns a tool call as text: its arguments if known, its status, the entity
// that answered it, and its result or error.
func toolCallText(p shoal.Part) string {
	text := "tool " + p.ToolName
	if len(p.Args) > 0 {
		text += " " + string(p.Args)
	}
	if p.Status != "" {
		text += ": " + string(p.Status)
	}
	if p.AnsweredBy != "" {
		text += " by " + string(p.AnsweredBy)
	}
	switch {
	case p.Error != "":
		text += ": " + p.Error
	case len(p.Result) > 0:
		text += " " + string(p.Result)
	}
	return text
}

// PartNote returns one line about what an event changes in a part. The line is empty for
// events that only carry text.
func PartNote(e shoal.Event) (head shoal.PartHead, note string, err error) {
	switch e.Type {
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable:
		data, err := Decode[shoal.ToolInputData](e)
		head = data.PartHead
		if e.Type == shoal.EventToolInputAvailable {
			note = PartText(shoal.Part{Type: shoal.ToolPart, ToolName: data.ToolName, Args: data.Args})
		}
		if head.Private {
			note = privateNote(e.Type == shoal.EventToolInputStart)
		}
		return head, note, err
	case shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		data, err := Decode[shoal.ToolOutputData](e)
		if data.Private {
			return data.PartHead, "", err
		}
		return data.PartHead, "[" + toolOutcome(data) + "]", err
	case shoal.EventTextEnd:
		data, err := Decode[shoal.TextData](e)
		if data.Status == shoal.PartInterrupted {
			note = "[interrupted]"
		}
		return data.PartHead, note, err
	case shoal.EventPartReset, shoal.EventPartRemoved:
		data, err := Decode[shoal.PartResetData](e)
		return data.PartHead, "[withdrawn, the model is asked again]", err
	}
	return head, "", nil
}

// privateNote returns the note about a part that the caller may not see, which only says that
// it exists. It is empty unless the part opens.
func privateNote(opens bool) string {
	if !opens {
		return ""
	}
	return PartText(shoal.Part{Type: shoal.ToolPart, Private: true})
}

// toolOutcome returns the end of a tool call as text.
func toolOutcome(d shoal.ToolOutputData) string {
	p := shoal.Part{ToolName: d.ToolName, Status: d.Status, Result: d.Result}
	if d.Error != nil {
		p.Error = *d.Error
	}
	if d.AnsweredBy != nil {
		p.AnsweredBy = *d.AnsweredBy
	}
	return toolCallText(p)
}

// PrintMessage prints a message in one line: for a terminal its head and its text, for a pipe
// the columns time, space, seq, sender, mentions and text. space says whether the head names
// the space.
func PrintMessage(o *cli.Output, m shoal.Message, space bool) error {
	if !o.Terminal {
		return o.Write(strings.Join([]string{
			m.CreatedAt.String(), safetext.Line(string(m.SpaceID)), cli.Itoa(m.Seq), safetext.Line(string(m.EntityID)), safetext.Line(cli.JoinIDs(m.Mentions, "", ",")), safetext.Line(MessageText(m)),
		}, "\t") + "\n")
	}
	return o.Write(MessageHead(o, m, space) + ": " + safetext.Line(MessageText(m)) + "\n")
}

// MessageHead returns the time, the space if wanted, the sender and the mentions of a message.
func MessageHead(o *cli.Output, m shoal.Message, space bool) string {
	head := o.Paint(cli.Dim, cli.Clock(m.CreatedAt.Time, time.Now())) + " "
	if space {
		head += "[" + safetext.Line(string(m.SpaceID)) + "] "
	}
	head += o.Paint(cli.Bold, safetext.Line(string(m.EntityID)))
	if len(m.Mentions) > 0 {
		head += " → " + o.Paint(cli.Yellow, safetext.Line(cli.JoinIDs(m.Mentions, "@", " ")))
	}
	return head
}
