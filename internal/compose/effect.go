package compose

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// Effect is an action that the caller of a [Composer] performs. The set is closed. Effects
// are performed in their order; the effects of one call belong into one transaction. The
// values that effects refer to must not be modified.
type Effect interface{ effect() }

// PartRef identifies a part of a message. All effects of the part share it.
type PartRef struct {
	Space   shoal.SpaceID
	Message shoal.MessageID
	Part    shoal.PartID
	// Call is the tool call that the part comes from. Tool is empty for text.
	Call, Tool string
	// Target is the one member that may see the part; empty for all. Other members see
	// only that the part exists: no delta, no arguments, no result.
	Target shoal.EntityID
}

type (
	// AskSpace asks whether the agent is a member of Space, and whether Target, if not
	// empty, is one. The answer is [Composer.SetMembership]. Until then nothing of the
	// calls with that destination is shown.
	AskSpace struct {
		Space  shoal.SpaceID
		Target shoal.EntityID
	}
	// OpenMessage opens a message without parts: message.created.
	OpenMessage struct{ Message Message }
	// OpenPart adds an empty part at the end of its message: text-start or
	// tool-input-start.
	OpenPart struct {
		Place *PartRef
		Part  Part
	}
	// AppendPart adds Delta to the text of the part, or to the JSON of its
	// arguments: text-delta or tool-input-delta. Offset is the part's length in bytes
	// before Delta.
	AppendPart struct {
		Place  *PartRef
		Offset int
		Delta  string
	}
	// ResetPart truncates the part to Offset bytes: part.reset.
	ResetPart struct {
		Place  *PartRef
		Offset int
	}
	// RemovePart withdraws the part: part.removed.
	RemovePart struct{ Place *PartRef }
	// EndText ends the text of a part, either complete (done) or incomplete
	// (interrupted): text-end.
	EndText struct {
		Place  *PartRef
		Text   string
		Status shoal.PartStatus
	}
	// InputAvailable reports that the arguments are complete and that the part is
	// running: tool-input-available.
	InputAvailable struct {
		Place *PartRef
		Args  json.RawMessage
	}
	// ChangePart sets the part to requires_action, or back to running:
	// message.updated.
	ChangePart struct {
		Place  *PartRef
		Status shoal.PartStatus
	}
	// FinishTool sets the result or the error of the part: tool-output-available when
	// Status is done, otherwise tool-output-error. A nil Result means null.
	FinishTool struct {
		Place      *PartRef
		Status     shoal.PartStatus
		Result     json.RawMessage
		Error      string
		AnsweredBy shoal.EntityID
		Decision   *shoal.Decision
	}
	// ShowPending determines where a request is shown: in the part PartRef; in Space
	// without a part when PartRef is nil; nowhere when both are empty, and then only
	// services and admins can answer it.
	ShowPending struct {
		Pending agent.Pending
		Space   shoal.SpaceID
		Place   *PartRef
	}
	// SealMessage directs later parts to another message. Mention is the entity that
	// the message mentions, or empty. ReopenMessage reverts it when the call that
	// sealed the message was not executed.
	SealMessage struct {
		Message shoal.MessageID
		Mention shoal.EntityID
	}
	// ReopenMessage reverts SealMessage.
	ReopenMessage struct{ Message shoal.MessageID }
	// SaveMessage reports that a part has ended. The caller stores the current state of
	// the message.
	SaveMessage struct{ Message Message }
	// CloseMessage stores the final state of the message: message.completed. Its status is
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
