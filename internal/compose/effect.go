package compose

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Effect is something that has to happen because of what a [Composer] was told.
// The set is closed. Effects are performed in their order; those of one call
// belong into one transaction. Nobody may change what they refer to.
type Effect interface{ effect() }

// Place is a part of a message. All effects of the part share it.
type Place struct {
	Space   shoal.SpaceID
	Message shoal.MessageID
	Part    shoal.PartID
	// Call is the tool call that the part comes from. Tool is empty for text.
	Call, Tool string
	// Target is the one member who may see the part; empty for all. Others learn
	// that it is there and nothing else: no delta, no arguments, no result.
	Target shoal.EntityID
}

type (
	// AskSpace asks how the agent stands to Space, and whether Target, if there is
	// one, is a member of it. The answer is [Composer.Standing]; until then nothing
	// of the calls that want to go there is shown.
	AskSpace struct {
		Space  shoal.SpaceID
		Target shoal.EntityID
	}
	// OpenMessage begins a message without parts: message.created.
	OpenMessage struct{ Message Message }
	// OpenPart adds an empty part at the end of its message: text-start or
	// tool-input-start.
	OpenPart struct {
		Place *Place
		Part  Part
	}
	// AppendPart adds Delta to the text of the part, or to the JSON of its
	// arguments: text-delta or tool-input-delta. Offset is the number of bytes it
	// had before.
	AppendPart struct {
		Place  *Place
		Offset int
		Delta  string
	}
	// ResetPart cuts the part back to Offset bytes: part.reset.
	ResetPart struct {
		Place  *Place
		Offset int
	}
	// RemovePart withdraws the part: part.removed.
	RemovePart struct{ Place *Place }
	// EndText says that the text is whole (done) or cut short (interrupted):
	// text-end.
	EndText struct {
		Place  *Place
		Text   string
		Status shoal.PartStatus
	}
	// InputAvailable says that the arguments are whole and that the part is
	// running: tool-input-available.
	InputAvailable struct {
		Place *Place
		Args  json.RawMessage
	}
	// ChangePart sets the part to requires_action, or back to running: what
	// message.updated tells.
	ChangePart struct {
		Place  *Place
		Status shoal.PartStatus
	}
	// FinishTool gives the part its result or error: tool-output-available when
	// Status is done, else tool-output-error. Result is nil for null.
	FinishTool struct {
		Place      *Place
		Status     shoal.PartStatus
		Result     json.RawMessage
		Error      string
		AnsweredBy shoal.EntityID
	}
	// ShowPending says where a request shows: in the part of Place; in Space alone
	// when Place is nil; nowhere when both are empty, then only services and admins
	// answer it.
	ShowPending struct {
		Pending agent.Pending
		Space   shoal.SpaceID
		Place   *Place
	}
	// SealMessage says that later parts go to another message. Mention is whom the
	// message mentions, or empty. ReopenMessage takes it back: what sealed the
	// message did not happen.
	SealMessage struct {
		Message shoal.MessageID
		Mention shoal.EntityID
	}
	// ReopenMessage is the opposite of SealMessage.
	ReopenMessage struct{ Message shoal.MessageID }
	// SaveMessage says that a part has ended and that the message is to be stored as
	// it stands now.
	SaveMessage struct{ Message Message }
	// CloseMessage stores the message as it stays: message.completed. Its status is
	// completed, failed or canceled.
	CloseMessage struct{ Message Message }
	// StartMention follows the CloseMessage of a message that mentions Entity.
	StartMention struct {
		Space   shoal.SpaceID
		Message shoal.MessageID
		Entity  shoal.EntityID
		Call    string
	}
)

func (AskSpace) effect()       {}
func (OpenMessage) effect()    {}
func (OpenPart) effect()       {}
func (AppendPart) effect()     {}
func (ResetPart) effect()      {}
func (RemovePart) effect()     {}
func (EndText) effect()        {}
func (InputAvailable) effect() {}
func (ChangePart) effect()     {}
func (FinishTool) effect()     {}
func (ShowPending) effect()    {}
func (SealMessage) effect()    {}
func (ReopenMessage) effect()  {}
func (SaveMessage) effect()    {}
func (CloseMessage) effect()   {}
func (StartMention) effect()   {}
