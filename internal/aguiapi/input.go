package aguiapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
)

// The roles of messages that mean something here.
const (
	roleUser      = "user"
	roleSystem    = "system"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleReasoning = "reasoning"
	roleActivity  = "activity"
)

// post posts the newest message of the user, unless it has been answered already.
func (x *protocolRun) post(ctx context.Context) error {
	at := x.newest()
	if at < 0 {
		return nil
	}
	m := x.in.Messages[at]
	if known := slices.IndexFunc(x.Snapshot.Messages, func(k shoal.Message) bool { return string(k.ID) == m.ID }); known >= 0 {
		x.Adopt(x.Snapshot.Messages[known])
		return nil
	}
	draft, err := x.draft(m, fmt.Sprintf("messages[%d]", at))
	if err != nil {
		return err
	}
	err = x.Post(ctx, draft, x.sent, x.key(m.ID))
	if errors.Is(err, shoal.IdempotencyMismatch) {
		return shoal.E("aguiapi.post", shoal.IdempotencyMismatch, fmt.Sprintf("A message with the id %q was posted before, with another content. Give a message that says something else another id.", m.ID))
	}
	return inInput(err, at)
}

// inInput returns an error of a post with the places in the input that it is about.
func inInput(err error, at int) error {
	var e *shoal.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	told := *e
	told.Fields = slices.Clone(e.Fields)
	for i, f := range told.Fields {
		switch {
		case strings.HasPrefix(f.Location, "mentions"):
			told.Fields[i].Location = "body.forwardedProps." + f.Location
		case strings.HasPrefix(f.Location, "parts"):
			told.Fields[i].Location = fmt.Sprintf("body.messages[%d].content", at)
		}
	}
	return &told
}

// newest returns the index of the last message if it is the user's, or -1. Messages that
// people cannot see may follow it.
func (x *protocolRun) newest() int {
	for i, m := range slices.Backward(x.in.Messages) {
		switch m.Role {
		case roleUser:
			return i
		case roleAssistant, roleTool:
			return -1
		}
	}
	return -1
}

// key makes a message's id unique among all that its sender posts in the session.
func (x *protocolRun) key(id string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", x.Space, x.in.ThreadID, id))
	return "agui-" + hex.EncodeToString(sum[:])
}

// draft returns a message of the user as it is posted. forwardedProps may mention
// members: {"mentions": ["shop-agent"]}.
func (x *protocolRun) draft(m agui.Message, at string) (shoal.Draft, error) {
	var props struct {
		Mentions []shoal.EntityID `json:"mentions"`
	}
	_ = json.Unmarshal(x.in.ForwardedProps, &props) // they may be anything, and anybody's
	d := shoal.Draft{Mentions: props.Mentions}
	var text string
	var content []agui.ContentPart
	switch {
	case json.Unmarshal(m.Content, &text) == nil:
		content = []agui.ContentPart{{Type: "text", Text: text}}
	case json.Unmarshal(m.Content, &content) != nil:
		return d, shoal.Invalid("body."+at+".content", "must be a string or a list of parts")
	}
	for i, c := range content {
		switch {
		case c.Type == "text" && c.Text == "":
		case c.Type == "text":
			d.Parts = append(d.Parts, shoal.Text(c.Text))
		case c.Source != nil && c.Source.Type == "url":
			d.Parts = append(d.Parts, filePart(c))
		default:
			x.ignore(fmt.Sprintf("%s.content[%d]", at, i), "Messages hold text, and files by their URL.")
		}
	}
	if len(d.Parts) == 0 {
		return d, shoal.Invalid("body."+at+".content", "holds nothing that can be posted: send text, or files by their URL")
	}
	return d, nil
}

func filePart(c agui.ContentPart) shoal.Part {
	name, _ := c.Metadata["name"].(string)
	if name == "" {
		name = c.Source.Value[strings.LastIndexByte(c.Source.Value, '/')+1:]
	}
	if name == "" || len(name) > shoal.MaxName {
		name = c.Type
	}
	media := c.Source.MimeType
	if media == "" {
		media = "application/octet-stream"
	}
	return shoal.Part{Type: shoal.FilePart, Name: name, MediaType: media, URL: c.Source.Value}
}
