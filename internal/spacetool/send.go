package spacetool

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The names of the tools that the executor has to know.
const (
	SendTool     = "sendSpaceMessage"
	DelegateTool = "delegateToAgent"
)

// How long a message waits for its reply.
const (
	defaultReplyWait = 60 * time.Second
	maxReplyWait     = 120 * time.Second
	maxReplyFrom     = 20
)

// Send is a call of sendSpaceMessage. Wait is nil for one that does not wait for a
// reply.
type Send struct {
	SpaceID shoal.SpaceID
	Text    string
	Mention shoal.EntityID // or empty
	Wait    *SendWait
}

// SendWait is what a call waits for: a message from an entity that matches one of For,
// for at most Timeout.
type SendWait struct {
	For     []storage.ReplyFrom
	Timeout time.Duration
}

// Reply is the message that a call waited for. EntityType is human or agent.
type Reply struct {
	Text       string           `json:"text"`
	EntityID   shoal.EntityID   `json:"entityId"`
	EntityName string           `json:"entityName"`
	EntityType shoal.EntityKind `json:"entityType"`
}

// sendSchema is loose where [ParseSend] can say more: what the model has written of
// a text when a schema refuses the rest is already seen by others.
var sendSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"spaceId":{"type":"string","description":"The id of a space that you are in. Write it first."},` +
	`"text":{"type":"string","description":"What to say. Others see it while you write it."},` +
	`"mention":{"type":["string","null"],"description":"The id of a member who is to act on the message. A mentioned agent starts when the message is complete. Leave it out when nobody has to act."},` +
	`"wait":{"type":["object","null"],"description":"Wait for a reply in that space before you go on. Leave it out unless you need the reply.","properties":{` +
	`"for":{"type":"array","description":"Whose reply counts: the first message that matches one of these.","items":{"type":"object","properties":{` +
	`"type":{"type":"string","enum":["any","agent","human","entity"]},` +
	`"entityId":{"type":["string","null"],"description":"Whose, with the type entity."}},"required":["type"]}},` +
	`"timeout":{"type":["number","null"],"description":"Seconds to wait at most: 60 by default, up to 120."}},"required":["for"]}},` +
	`"required":["spaceId","text"]}`)

// SendSpec describes sendSpaceMessage to the model. The tool is external.
func SendSpec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: SendTool, External: true, Schema: sendSchema,
		Description: "Says something in a space. " +
			"Answer in the space that the trigger came from, unless something belongs elsewhere. What you send in one run to one space appears as one message, until you mention somebody or wait.",
	}
}

// ParseSend reads the arguments of a call. A wait is 60 seconds long unless it says
// otherwise, and at least 1 and at most 120. The error is for the model: of kind
// InvalidArgument, or TooLarge for the text, with what is wrong in Msg.
func ParseSend(arguments string) (Send, error) {
	var in struct {
		SpaceID shoal.SpaceID   `json:"spaceId"`
		Text    string          `json:"text"`
		Mention *shoal.EntityID `json:"mention"`
		Wait    *struct {
			For []struct {
				Type     string          `json:"type"`
				EntityID *shoal.EntityID `json:"entityId"`
			} `json:"for"`
			Timeout *float64 `json:"timeout"`
		} `json:"wait"`
	}
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return Send{}, shoal.Invalid("arguments", "must be an object with spaceId and text, such as {\"spaceId\":\"…\",\"text\":\"…\"}")
	}
	out := Send{SpaceID: in.SpaceID, Text: in.Text, Mention: or(in.Mention, "")}
	if err := out.check(); err != nil || in.Wait == nil {
		return out, err
	}
	if n := len(in.Wait.For); n == 0 || n > maxReplyFrom {
		return Send{}, shoal.Invalid("wait.for", fmt.Sprintf("must say whose reply counts, in 1 to %d entries such as {\"type\":\"any\"}", maxReplyFrom))
	}
	out.Wait = &SendWait{Timeout: replyWait(in.Wait.Timeout)}
	for i, f := range in.Wait.For {
		from := storage.ReplyFrom{Type: f.Type, EntityID: or(f.EntityID, "")}
		if err := checkFrom(fmt.Sprintf("wait.for[%d]", i), &from); err != nil {
			return Send{}, err
		}
		out.Wait.For = append(out.Wait.For, from)
	}
	return out, nil
}

func (s Send) check() error {
	if err := shoal.CheckID("spaceId", string(s.SpaceID)); err != nil {
		return err
	}
	if s.Mention != "" {
		if err := shoal.CheckID("mention", string(s.Mention)); err != nil {
			return err
		}
	}
	if len(s.Text) > shoal.MaxContent {
		return shoal.E("", shoal.TooLarge, fmt.Sprintf("text has %d bytes; a message holds at most %d: send it in several messages", len(s.Text), shoal.MaxContent))
	}
	return checkText("text", s.Text, shoal.MaxContent)
}

// checkFrom refuses what matches nobody. An entity id beside another type than
// entity is passed over.
func checkFrom(field string, from *storage.ReplyFrom) error {
	switch from.Type {
	case "any", "agent", "human":
		from.EntityID = ""
		return nil
	case "entity":
		return shoal.CheckID(field+".entityId", string(from.EntityID))
	}
	return shoal.Invalid(field+".type", "must be any, agent, human or entity")
}

func replyWait(seconds *float64) time.Duration {
	if seconds == nil || math.IsNaN(*seconds) {
		return defaultReplyWait
	}
	bounded := min(max(*seconds, 1), maxReplyWait.Seconds())
	return time.Duration(bounded * float64(time.Second))
}

// SendResult is the result of a call that sent a message. reply is nil when none
// came. What a call that did not wait gets has no timedOut and no reply.
func SendResult(message shoal.MessageID, reply *Reply, waited, timedOut bool) string {
	type sent struct {
		MessageID shoal.MessageID `json:"messageId"`
		Sent      bool            `json:"sent"`
	}
	var out any = sent{message, true}
	if waited {
		out = struct {
			sent
			TimedOut bool   `json:"timedOut"`
			Reply    *Reply `json:"reply"`
		}{sent{message, true}, timedOut, reply}
	}
	text, err := encode(out)
	if err != nil {
		panic(err) // what holds only texts can be written
	}
	return text
}
