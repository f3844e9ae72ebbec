package compose_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/compose"
)

// showEffect writes an effect as one line of a story.
func showEffect(e compose.Effect) string {
	switch e := e.(type) {
	case compose.AskSpace:
		return strings.TrimSpace(fmt.Sprintf("ask %s %s", e.Space, e.Target))
	case compose.OpenMessage:
		return fmt.Sprintf("message %s opens in %s", e.Message.ID, e.Message.Space)
	case compose.OpenPart:
		return fmt.Sprintf("%s opens %s", showPlace(e.Place), showPart(e.Part))
	case compose.AppendPart:
		return fmt.Sprintf("%s + %d %q", e.Place.Part, e.Offset, e.Delta)
	case compose.ResetPart:
		return fmt.Sprintf("%s reset to %d", e.Place.Part, e.Offset)
	case compose.RemovePart:
		return fmt.Sprintf("%s removed", e.Place.Part)
	case compose.EndText:
		return fmt.Sprintf("%s ends %s %q", e.Place.Part, e.Status, e.Text)
	case compose.InputAvailable:
		return fmt.Sprintf("%s input %s", e.Place.Part, e.Args)
	case compose.ChangePart:
		return fmt.Sprintf("%s is %s", e.Place.Part, e.Status)
	case compose.FinishTool:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.Place.Part, e.Status, e.Result, e.Error, by(e.AnsweredBy)) + decision(e.Decision))
	case compose.ShowPending:
		part := "no part"
		if e.Place != nil {
			part = string(e.Place.Part)
		}
		return fmt.Sprintf("pending %s in space %q, %s", e.Pending.ID, e.Space, part)
	case compose.SealMessage:
		return fmt.Sprintf("message %s sealed, mentions %q", e.Message, e.Mention)
	case compose.ReopenMessage:
		return fmt.Sprintf("message %s reopened", e.Message)
	case compose.SaveMessage:
		return "save " + showMessage(e.Message)
	case compose.CloseMessage:
		return showMessage(e.Message)
	case compose.StartMention:
		return fmt.Sprintf("start %s in %s by %s of %s", e.Entity, e.Space, e.Call, e.Message)
	}
	return fmt.Sprintf("%T", e)
}

func decision(d *shoal.Decision) string {
	if d == nil {
		return ""
	}
	text, _ := json.Marshal(d) // of strings only
	return " " + string(text)
}

func by(who shoal.EntityID) string {
	if who == "" {
		return ""
	}
	return "by " + string(who)
}

func showPlace(p *compose.PartRef) string { return fmt.Sprintf("%s in %s", p.Part, p.Message) }

func showPart(p compose.Part) string {
	out := string(p.Type)
	if p.Tool != "" {
		out += fmt.Sprintf(" %s %s", p.Tool, p.Call)
	}
	if p.Target != "" {
		out += " for " + string(p.Target)
	}
	return out
}

// showMessage writes a message as it is stored, on one line.
func showMessage(m compose.Message) string {
	out := fmt.Sprintf("message %s %s", m.ID, m.Status)
	if m.Mention != "" {
		out += " @" + string(m.Mention)
	}
	out += ":"
	for _, p := range m.Parts {
		switch {
		case p.Type == shoal.TextPart:
			out += fmt.Sprintf(" [%s %q]", p.Status, p.Text)
		case p.Input != "":
			out += fmt.Sprintf(" [%s %s %s…]", p.Tool, p.Status, p.Input)
		default:
			out += fmt.Sprintf(" [%s %s %s → %s%s]", p.Tool, p.Status, p.Args, p.Result, p.Error)
		}
	}
	return out
}
