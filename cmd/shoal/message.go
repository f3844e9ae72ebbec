package main

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// said returns what a message says, in words.
func said(m shoal.Message) string {
	if m.DeletedAt != nil {
		return "[deleted]"
	}
	var all []string
	for _, p := range m.Parts {
		all = append(all, shown(p))
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

// shown returns a part in words.
func shown(p shoal.Part) string {
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
		return "[" + toolCall(p) + "]"
	}
	return "[" + string(p.Type) + " " + p.Name + "]"
}

// toolCall says of a tool call what was asked for, if it is known, and how far it
// is.
func toolCall(p shoal.Part) string {
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

// partNote says in one line what happened to a part; nothing where its text tells.
func partNote(e shoal.Event) (head shoal.PartHead, note string, err error) {
	switch e.Type {
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable:
		data, err := decode[shoal.ToolInputData](e)
		head = data.PartHead
		if e.Type == shoal.EventToolInputAvailable {
			note = shown(shoal.Part{Type: shoal.ToolPart, ToolName: data.ToolName, Args: data.Args})
		}
		if head.Private {
			note = privately(e.Type == shoal.EventToolInputStart)
		}
		return head, note, err
	case shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		data, err := decode[shoal.ToolOutputData](e)
		if data.Private {
			return data.PartHead, "", err
		}
		return data.PartHead, "[" + outcome(data) + "]", err
	case shoal.EventTextEnd:
		data, err := decode[shoal.TextData](e)
		if data.Status == shoal.PartInterrupted {
			note = "[interrupted]"
		}
		return data.PartHead, note, err
	case shoal.EventPartReset, shoal.EventPartRemoved:
		data, err := decode[shoal.PartResetData](e)
		return data.PartHead, "[withdrawn, the model is asked again]", err
	}
	return head, "", nil
}

// privately is what is told about a part for somebody else: that it is there.
func privately(opens bool) string {
	if !opens {
		return ""
	}
	return shown(shoal.Part{Type: shoal.ToolPart, Private: true})
}

// outcome says how a tool call ended.
func outcome(d shoal.ToolOutputData) string {
	p := shoal.Part{ToolName: d.ToolName, Status: d.Status, Result: d.Result}
	if d.Error != nil {
		p.Error = *d.Error
	}
	if d.AnsweredBy != nil {
		p.AnsweredBy = *d.AnsweredBy
	}
	return toolCall(p)
}

// printMessage prints one message in one line: for people a sentence, for programs
// time, space, seq, sender, mentions and text.
func printMessage(o *output, m shoal.Message, space bool) error {
	if !o.terminal {
		return o.write(strings.Join([]string{
			m.CreatedAt.String(), line(string(m.SpaceID)), itoa(m.Seq), line(string(m.EntityID)), line(list(m.Mentions, "", ",")), line(said(m)),
		}, "\t") + "\n")
	}
	return o.write(messageHead(o, m, space) + ": " + line(said(m)) + "\n")
}

// messageHead says when, where, who and to whom.
func messageHead(o *output, m shoal.Message, space bool) string {
	head := o.paint(dim, m.CreatedAt.String()) + " "
	if space {
		head += "[" + line(string(m.SpaceID)) + "] "
	}
	head += o.paint(bold, line(string(m.EntityID)))
	if len(m.Mentions) > 0 {
		head += " → " + o.paint(yellow, line(list(m.Mentions, "@", " ")))
	}
	return head
}
