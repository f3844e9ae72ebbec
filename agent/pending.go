package agent

import (
	"encoding/json"
	"time"
)

// PendingKind is the kind of a [Pending] request.
type PendingKind string

// The kinds of requests.
const (
	// Permission asks whether the call may run. Answer with Approved, Reason,
	// Arguments and Rule, or with Ask.
	Permission PendingKind = "permission"
	// ClientCall asks the client to execute the call. Answer with Text, and with
	// Failed if the call failed.
	ClientCall PendingKind = "client_call"
	// Clarification asks a person a question. Answer with Text.
	Clarification PendingKind = "clarification"
	// Continuation asks whether a turn at its last step may go on. Answer with
	// Approved.
	Continuation PendingKind = "continuation"
)

// Pending is a request whose answer a turn waits for. It is part of the stored step,
// so it survives the process, and accepts one answer.
type Pending struct {
	// ID is unique among all requests of all conversations.
	ID   string      `json:"id"`
	Kind PendingKind `json:"kind"`
	// Call is the tool call in question; the zero value for [Continuation].
	Call ToolCall `json:"call,omitzero"`
	// Description is the tool's description.
	Description string `json:"description,omitempty"`
	// Question and Options belong to [Clarification].
	Question string   `json:"question,omitempty"`
	Options  []string `json:"options,omitempty"`
	// Step and MaxSteps belong to [Continuation].
	Step     int `json:"step,omitempty"`
	MaxSteps int `json:"maxSteps,omitempty"`
	// Agent is the name of the agent that makes the request. Conversation is the
	// conversation that accepts the answer; for a sub-agent it is not the conversation
	// of the turn that waits.
	Agent        string `json:"agent,omitempty"`
	Conversation string `json:"conversation"`
	// Via is the call of the waiting turn whose sub-agent makes the request; empty if
	// the turn makes it itself.
	Via         string    `json:"via,omitempty"`
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	// ExpiresAt, if set, is when the request expires and counts as denied.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Answer    *Answer   `json:"answer,omitempty"`
}

// Answer is the one answer to a [Pending] request.
type Answer struct {
	PendingID string `json:"pendingId"`
	Approved  bool   `json:"approved,omitempty"`
	// Reason is what the model reads if the permission is denied.
	Reason string `json:"reason,omitempty"`
	// Arguments, a JSON object, replace the model's arguments when an approved call is
	// executed; empty means the model's own. The model reads both.
	Arguments string `json:"arguments,omitempty"`
	// Ask returns the call to the model with a question: the call is not executed, and
	// the model reads the question.
	Ask string `json:"ask,omitempty"`
	// Rule is remembered in the conversation for later calls of the tool.
	Rule   PermissionRule `json:"choice,omitempty"`
	Text   string         `json:"text,omitempty"`
	Failed bool           `json:"failed,omitempty"`
	Files  []File         `json:"files,omitempty"`
	// By identifies the person who answered, for the record.
	By string `json:"by,omitempty"`
}

// PermissionRule states whether later calls of a tool need a permission again.
type PermissionRule string

// The rules. The zero value is AskEachTime.
const (
	AskEachTime PermissionRule = "ask"
	AlwaysAllow PermissionRule = "always_allow"
	AlwaysDeny  PermissionRule = "always_deny"
)

// askSchema is the schema of the arguments of a question.
var askSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"question":{"type":"string","description":"The question, in full."},` +
	`"options":{"type":"array","items":{"type":"string"},"description":"Answers to choose from, if the question has some."}},` +
	`"required":["question"]}`)

// AskUser returns a tool with which the model asks a person a question; the answer is
// its result. The call is a [Pending] request of kind [Clarification].
func AskUser() Tool {
	return External(ToolSpec{
		Name:        "ask_user",
		Description: "Asks the user a question and waits for the answer. Use it only when you cannot go on without it.",
		Schema:      askSchema,
		Question:    true,
	})
}
