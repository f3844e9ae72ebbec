package compose

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// The names of the routing fields of display tools. They are put into the schema
// that the model sees and taken out of its arguments before anything else sees
// those.
const (
	FieldTargetSpace  = "targetSpaceId"
	FieldMention      = "mention"
	FieldTargetEntity = "targetEntityId" // of targeted tools only
)

// Tool says how the calls of a tool appear in spaces. A tool that is described
// nowhere appears nowhere.
type Tool struct {
	Name string
	// Send marks sendSpaceMessage: its text becomes a text part. Other fields
	// than Name do not matter then.
	Send bool
	// Display gives the tool the routing fields, and a part in the space that the
	// model names. Targeted adds the field for the one member who may see it.
	Display  bool
	Targeted bool
	// Hidden calls get no part although they may name a space.
	Hidden bool
	// HideInput shows {} for the arguments, HideOutput null for the result. Neither
	// suits a tool that a client executes.
	HideInput, HideOutput bool
	// Hints is what the part tells clients about how to draw it, as it is.
	Hints json.RawMessage
}

// routed reports whether the tool's arguments have routing fields.
func (t Tool) routed() bool { return t.Display && !t.Send }

// The places of the fields in what a call's reader looks for.
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

// Strip returns the arguments of a call without the tool's routing fields: what
// the tool, its schema and the store may see. Tools without such fields get their
// arguments unchanged. Arguments that are not a JSON object make an error of kind
// InvalidJSON.
func Strip(t Tool, arguments string) (string, error) {
	if !t.routed() {
		return arguments, nil
	}
	t.HideInput = false
	r := t.reader()
	var out strings.Builder
	r.all(arguments, func(token Token) {
		if token.Kind == TokenRest {
			out.WriteString(token.Text)
		}
	})
	return out.String(), r.Err()
}

// Stripper is [Strip] for arguments that are still being written.
type Stripper struct{ reader *Reader }

// NewStripper returns the stripper of one call.
func NewStripper(t Tool) *Stripper {
	if !t.routed() {
		return &Stripper{}
	}
	t.HideInput = false
	return &Stripper{reader: t.reader()}
}

// Feed takes the next piece of the arguments and returns what is to be shown of
// it, which is often nothing or a bit more. Behind an error nothing is.
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

// Standing is how the run's agent stands to a space.
type Standing int

// The standings. NoTarget says that the agent is a member and the entity that a
// part is meant for is not.
const (
	Member Standing = iota + 1
	Stranger
	SpaceClosed
	NoTarget
)

// Refusal says why a call that names a space does not appear in it. Its tool must
// not run; the call gets an error as its result.
type Refusal string

// The refusals.
const (
	RefusedNotMember Refusal = "not_member" // also of a space that is not there
	RefusedClosed    Refusal = "space_closed"
	RefusedTarget    Refusal = "target_not_member" // the entity that it is meant for is not in the space
	RefusedMention   Refusal = "mention_not_member"
	RefusedSpace     Refusal = "invalid_space" // missing, or no id
	RefusedEmpty     Refusal = "empty_text"
	RefusedTooLarge  Refusal = "too_large" // more than fits into a part
	RefusedMalformed Refusal = "malformed" // the arguments are not JSON
)

var refusalOf = map[Standing]Refusal{Stranger: RefusedNotMember, SpaceClosed: RefusedClosed, NoTarget: RefusedTarget}

// Route is where a call goes.
type Route struct {
	// Place is where the call is shown; nil while it is not, and for ever if it
	// names no space.
	Place *Place
	// Space, Mention and Target are what the model named; Wait says that it wants to
	// wait for a reply.
	Space           shoal.SpaceID
	Mention, Target shoal.EntityID
	Wait            bool
	// Refusal is not empty when the call must not be executed.
	Refusal Refusal
}
