package httpapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// What is in a part, by its type, as the server writes it and as clients may.
type (
	TextPart struct {
		ID     shoal.PartID     `json:"id"`
		Type   string           `json:"type" enum:"text"`
		Text   string           `json:"text"`
		Status shoal.PartStatus `json:"status"`
	}
	ToolPart struct {
		ID         shoal.PartID     `json:"id"`
		Type       string           `json:"type" enum:"tool_call"`
		ToolName   string           `json:"toolName"`
		ToolCallID string           `json:"toolCallId"`
		Args       json.RawMessage  `json:"args"`
		Result     json.RawMessage  `json:"result"`
		Error      *string          `json:"error"`
		Status     shoal.PartStatus `json:"status"`
		Display    json.RawMessage  `json:"display"`
		AnsweredBy *shoal.EntityID  `json:"answeredBy"`
		EditedArgs json.RawMessage  `json:"editedArgs"`
		Decision   *shoal.Decision  `json:"decision"`
		Target     *shoal.EntityID  `json:"targetEntityId"`
	}
	PrivatePart struct {
		ID      shoal.PartID `json:"id"`
		Type    string       `json:"type" enum:"tool_call"`
		Private bool         `json:"private"`
	}
	FilePart struct {
		ID        shoal.PartID `json:"id"`
		Type      string       `json:"type" enum:"file"`
		Name      string       `json:"name"`
		MediaType string       `json:"mediaType"`
		Size      int64        `json:"size"`
		URL       string       `json:"url"`
	}
	DataPart struct {
		ID   shoal.PartID    `json:"id"`
		Type string          `json:"type" enum:"data"`
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	}
	NewTextPart struct {
		_    struct{} `additionalProperties:"true"`
		Type string   `json:"type" enum:"text"`
		Text string   `json:"text"`
	}
	NewFilePart struct {
		_         struct{} `additionalProperties:"true"`
		Type      string   `json:"type" enum:"file"`
		Name      string   `json:"name"`
		MediaType string   `json:"mediaType"`
		Size      int64    `json:"size,omitempty"`
		URL       string   `json:"url"`
	}
	NewDataPart struct {
		_    struct{}        `additionalProperties:"true"`
		Type string          `json:"type" enum:"data"`
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	}
)

// What is in a trigger, by its type.
type (
	SpaceMessageTrigger struct {
		Type           string           `json:"type" enum:"space_message"`
		SpaceID        shoal.SpaceID    `json:"spaceId"`
		SpaceName      string           `json:"spaceName"`
		MessageID      shoal.MessageID  `json:"messageId"`
		MessageContent string           `json:"messageContent"`
		SenderEntityID shoal.EntityID   `json:"senderEntityId"`
		SenderName     string           `json:"senderName"`
		SenderType     shoal.EntityKind `json:"senderType"`
		MentionReason  string           `json:"mentionReason,omitempty"`
	}
	PrivateTrigger struct {
		Type    string `json:"type" enum:"space_message"`
		Private bool   `json:"private" enum:"true"`
	}
	PlanTrigger struct {
		Type        string       `json:"type" enum:"plan"`
		PlanID      shoal.PlanID `json:"planId"`
		PlanName    string       `json:"planName"`
		ScheduledAt shoal.Time   `json:"scheduledAt"`
		Instruction string       `json:"instruction,omitempty"`
	}
	ServiceTrigger struct {
		Type        string          `json:"type" enum:"service"`
		ServiceName string          `json:"serviceName"`
		Payload     json.RawMessage `json:"payload"`
	}
)

// What is in a message to a model, by its type.
type (
	ModelTextContent struct {
		Type string `json:"type" enum:"text"`
		Text string `json:"text"`
	}
	ModelReasoningContent struct {
		Type string `json:"type" enum:"reasoning"`
		Text string `json:"text"`
	}
	ModelFileContent struct {
		Type string `json:"type" enum:"file"`
		shoal.ModelFileInfo
	}
	ModelToolCallContent struct {
		Type       string          `json:"type" enum:"tool_call"`
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Args       json.RawMessage `json:"args"`
	}
	ModelToolResultContent struct {
		Type       string                `json:"type" enum:"tool_result"`
		ToolCallID string                `json:"toolCallId"`
		ToolName   string                `json:"toolName"`
		Status     string                `json:"status"`
		Text       string                `json:"text"`
		Files      []shoal.ModelFileInfo `json:"files"`
	}
)
