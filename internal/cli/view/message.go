// Package view renders messages, events, pending actions and model requests as text for a
// terminal or a pipe.
package view

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// MessageText returns what a message says, in words.
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

// PartText returns a part in words.
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
	}
	return "[" + string(p.Type) + " " + p.Name + "]"
}

// toolCallText says of a tool call what was asked for, if it is known, and how far it
// is.
func toolCallText(p shoal.Part) string {
	told := "tool " + p.ToolName
	if len(p.Args) > 0 {
		told += " " + string(p.Args)
	}
	if p.Status != "" {
		told += ": " + string(p.Status)
	}
	if p.AnsweredBy != "" {
		told += " by " + string(p.AnsweredBy)
	}
	switch {
	case p.Error != "":
		told += ": " + p.Error
	case len(p.Result) > 0:
		told += " " + string(p.Result)
	}
	return told
}

// PartNote says in one line what happened to a part; nothing where its text tells.
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

// privateNote is what is told about a part for somebody else: that it is there.
func privateNote(opens bool) string {
	if !opens {
		return ""
	}
	return PartText(shoal.Part{Type: shoal.ToolPart, Private: true})
}

// toolOutcome says how a tool call ended.
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

// PrintMessage prints one message in one line: for people a sentence, for programs
// time, space, seq, sender, mentions and text.
func PrintMessage(o *cli.Output, m shoal.Message, space bool) error {
	if !o.Terminal {
		return o.Write(strings.Join([]string{
			m.CreatedAt.String(), safetext.Line(string(m.SpaceID)), cli.Itoa(m.Seq), safetext.Line(string(m.EntityID)), safetext.Line(cli.JoinIDs(m.Mentions, "", ",")), safetext.Line(MessageText(m)),
		}, "\t") + "\n")
	}
	return o.Write(MessageHead(o, m, space) + ": " + safetext.Line(MessageText(m)) + "\n")
}

// MessageHead says when, where, who and to whom.
func MessageHead(o *cli.Output, m shoal.Message, space bool) string {
	head := o.Paint(cli.Dim, m.CreatedAt.String()) + " "
	if space {
		head += "[" + safetext.Line(string(m.SpaceID)) + "] "
	}
	head += o.Paint(cli.Bold, safetext.Line(string(m.EntityID)))
	if len(m.Mentions) > 0 {
		head += " → " + o.Paint(cli.Yellow, safetext.Line(cli.JoinIDs(m.Mentions, "@", " ")))
	}
	return head
}
