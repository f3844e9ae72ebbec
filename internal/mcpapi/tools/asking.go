package tools

import (
	"context"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// asked is the result of a call that may ask people. Answer is null as long as nobody has answered.
type asked struct {
	progress
	CallID    string       `json:"callId"`
	Answer    *shoal.Order `json:"answer"`
	TimedOut  bool         `json:"timedOut"`
	TimeoutMs int64        `json:"timeoutMs"`
}

// callInput makes a request repeatable.
var callInput = input{name: "callId", kind: textInput, length: 128, about: "An id of your choice, or the callId that an earlier call returned. Repeating a call with it asks nobody twice, and returns the answer that was given."}

func showCard() *tool {
	return &tool{
		name:  "show_card",
		about: "Show a card in the message that you have begun: one of those that begin_message lists. With wait, participants answer it, and the call returns their answer; after a time-out, call again to continue waiting.",
		waits: true, remote: true,
		inputs: []input{
			claimInput,
			{name: "card", kind: textInput, length: shoal.MaxID, required: true, about: "The name of the card."},
			{name: "args", kind: anyInput, about: "What the card shows: an object that fits the schema of the card."},
			elsewhereInput, mentionInput,
			{name: "wait", kind: flagInput, about: "true waits for an answer."},
			callInput,
			timeoutInput(shoal.DefaultWait.Milliseconds()),
		},
		output: asked{},
		call: func(ctx context.Context, c *call) (result, error) {
			args, err := c.object("args")
			if err != nil {
				return result{}, err
			}
			line := shoal.WorkLine{
				Type: shoal.WorkCard, CallID: c.text("callId"), Tool: c.text("card"), Args: args,
				SpaceID: c.thread(), Mention: shoal.EntityID(c.text("mention")), Wait: c.flag("wait"),
			}
			return c.ask(ctx, "card", line)
		},
	}
}

func ask() *tool {
	return &tool{
		name: "ask",
		about: "Ask the participants of the thread in which you were asked, and wait for the answer. With tool, ask whether you may do something: do it only if approved is true, with the arguments that were approved. " +
			"After a time-out, call again with the same arguments to continue waiting: nobody is asked twice.",
		waits: true, remote: true,
		inputs: []input{
			claimInput,
			{name: "question", kind: textInput, length: shoal.MaxDescription, required: true, about: "The question, or with tool what you want to do, in words for people (at most 300 bytes)."},
			{name: "options", kind: listInput, items: 20, entry: 300, about: "Answers to choose from. Other answers are possible."},
			{name: "tool", kind: textInput, length: shoal.MaxID, about: "To ask for a permission: the name of what you want to do, such as delete_file."},
			{name: "args", kind: anyInput, about: "To ask for a permission: the exact arguments, an object. People may change them."},
			callInput,
			timeoutInput(shoal.DefaultWait.Milliseconds()),
		},
		output: asked{},
		call: func(ctx context.Context, c *call) (result, error) {
			args, err := c.object("args")
			if err != nil {
				return result{}, err
			}
			line := shoal.WorkLine{Type: shoal.WorkQuestion, CallID: c.text("callId"), Text: c.text("question"), Options: c.of("options").list}
			switch {
			case c.text("tool") != "":
				line.Type, line.Text, line.Title, line.Tool, line.Args = shoal.WorkPermission, "", c.text("question"), c.text("tool"), args
				if len(line.Options) > 0 {
					return result{}, shoal.Invalid("options", "cannot be chosen for a permission, which is approved or denied: leave them out")
				}
			case args != nil:
				return result{}, shoal.Invalid("args", "need tool: name what you want to do with them")
			}
			return c.ask(ctx, "question", line)
		},
	}
}

// ask reports a line that may ask people, and waits for their answer if it does.
func (c *call) ask(ctx context.Context, at string, line shoal.WorkLine) (result, error) {
	id, done, err := c.append(ctx, at, remoterun.Report{Line: line})
	if err != nil {
		return result{}, err
	}
	out := asked{progress: progressOf(id, done), CallID: done.CallID, TimeoutMs: c.whole("timeoutMs")}
	if line.Type == shoal.WorkCard && !line.Wait {
		return result{text: "Shown: card " + line.Tool + " (call " + done.CallID + ").", structured: out}, nil
	}
	answer, err := c.Remote.Await(ctx, c.Principal, c.Session, id, done.CallID, time.Duration(out.TimeoutMs)*time.Millisecond)
	if err != nil {
		return result{}, err
	}
	if out.Answer, out.Status = answer.Order, answer.Status; answer.Order == nil {
		out.TimedOut = true
		return result{text: "No answer within the timeout period", more: []string{"This is not an error: call again with callId " + quotedText(done.CallID) + " and the same arguments to continue waiting. Nobody is asked twice."}, structured: out}, nil
	}
	return result{text: answerLine(line.Type, *answer.Order), structured: out}, nil
}

// answerLine describes an answer in one line. Texts of others are quoted as JSON.
func answerLine(kind shoal.WorkType, o shoal.Order) string {
	var b strings.Builder
	switch {
	case kind == shoal.WorkPermission || o.Approved != nil:
		yes := o.Approved != nil && *o.Approved
		b.WriteString(map[bool]string{true: "Approved", false: "Denied: do not do it"}[yes])
	case o.Error != "":
		b.WriteString("No answer: " + quotedText(o.Error))
	case len(o.Result) > 0:
		b.WriteString("Result: " + string(o.Result))
	default:
		b.WriteString("Answer: " + quotedText(o.Text))
	}
	if o.By != "" {
		b.WriteString(", By: " + string(o.By))
	}
	if o.Reason != "" {
		b.WriteString(", Reason: " + quotedText(o.Reason))
	}
	if len(o.EditedArgs) > 0 {
		b.WriteString(", with other arguments, which are those to use: " + string(o.EditedArgs))
	}
	return b.String()
}
