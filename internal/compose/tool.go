package compose

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// The names of the routing fields of display tools. The composer's caller adds them to the
// schema that the model sees, and [Strip] removes them from the arguments before other code
// sees those.
const (
	FieldTargetSpace  = "targetSpaceId"
	FieldMention      = "mention"
	FieldTargetEntity = "targetEntityId" // of targeted tools only
)

// Tool describes how the calls of a tool appear in spaces. Calls of a tool without a
// description do not appear.
type Tool struct {
	Name string
	// Send marks sendSpaceMessage: its text becomes a text part. All other fields except
	// Name are ignored then.
	Send bool
	// Display gives the tool the routing fields, and a part in the space that the
	// model names. Targeted adds the field for the one member that may see it.
	Display  bool
	Targeted bool
	// Hidden calls have no part, even if they name a space.
	Hidden bool
	// HideInput shows {} instead of the arguments, HideOutput null instead of the result.
	// Do not use them with a tool that a client executes.
	HideInput, HideOutput bool
	// Rendering is passed to clients unchanged and describes how to render the part.
	Rendering json.RawMessage
}

// hasRouting reports whether the tool's arguments have routing fields.
func (t Tool) hasRouting() bool { return t.Display && !t.Send }

// The indexes of the fields that a call's reader looks for.
const (
	atSpace = iota
	atMention
	atThird // wait of sendSpaceMessage, targetEntityId of a targeted tool
	atText
)

func (t Tool) reader() *Reader {
	switch {
	case t.Send:
		return NewReader(false, Field{Name: "spaceId"}, Field{Name: FieldMention}, Field{Name: "wait"}, Field{Name: "text", Stream: true})
	case t.Targeted:
		return NewReader(!t.HideInput, Field{Name: FieldTargetSpace}, Field{Name: FieldMention}, Field{Name: FieldTargetEntity})
	}
	return NewReader(!t.HideInput, Field{Name: FieldTargetSpace}, Field{Name: FieldMention})
}

// Strip returns the arguments of a call without the tool's routing fields, for the tool,
// its schema and the store. Arguments of a tool without such fields are returned unchanged.
// For arguments that are not a JSON object the error is of kind InvalidJSON.
func Strip(t Tool, arguments string) (string, error) {
	if !t.hasRouting() {
		return arguments, nil
	}
	t.HideInput = false
	r := t.reader()
	var out strings.Builder
	r.readAll(arguments, func(token Token) {
		if token.Kind == TokenRest {
			out.WriteString(token.Text)
		}
	})
	return out.String(), r.Err()
}

// Stripper does the same as [Strip] for arguments that the model is still writing.
type Stripper struct{ reader *Reader }

// NewStripper returns the stripper of one call.
func NewStripper(t Tool) *Stripper {
	if !t.hasRouting() {
		return &Stripper{}
	}
	t.HideInput = false
	return &Stripper{reader: t.reader()}
}

// Feed reads the next piece of the arguments and returns the text to show, which is often
// empty or slightly longer than the piece. After an error it returns "".
func (s *Stripper) Feed(piece string) string {
	if s.reader == nil {
		return piece
	}
	out := ""
	for _, t := range s.reader.Feed(piece) {
		if t.Kind == TokenRest {
			out += t.Text
		}
	}
	return out
}

// Membership is the relation of the run's agent to a space.
type Membership int

// The relations. NoTarget means that the agent is a member, but the target of the part is
// not.
const (
	Member Membership = iota + 1
	NotMember
	SpaceClosed
	NoTarget
)

// Refusal is the reason why a call that names a space does not appear in it. Its tool must
// not be executed; the result of the call is an error.
type Refusal string

// The refusals.
const (
	RefusedNotMember Refusal = "not_member" // also for a space that does not exist
	RefusedClosed    Refusal = "space_closed"
	RefusedTarget    Refusal = "target_not_member" // the target entity is not in the space
	RefusedMention   Refusal = "mention_not_member"
	RefusedSpace     Refusal = "invalid_space" // missing, or not an id
	RefusedEmpty     Refusal = "empty_text"
	RefusedTooLarge  Refusal = "too_large" // more than the limit of a part
	RefusedMalformed Refusal = "malformed" // the arguments are not JSON
)

var refusals = map[Membership]Refusal{NotMember: RefusedNotMember, SpaceClosed: RefusedClosed, NoTarget: RefusedTarget}

// Route is the destination of a call.
type Route struct {
	// Place is the part that shows the call; nil until the call is shown, and always nil
	// for a call that names no space.
	Place *PartRef
	// Space, Mention and Target are the values that the model chose; Wait means that the
	// call waits for a reply.
	Space           shoal.SpaceID
	Mention, Target shoal.EntityID
	Wait            bool
	// Refusal is not empty when the call must not be executed.
	Refusal Refusal
}
