package shoal

// ReceiptState is how far a mention of an agent has got.
type ReceiptState string

// The states of a receipt. A sent mention is in nobody's hands yet. It is delivered when a
// wait of the agent has returned it, or its run has started; resumed when the agent has
// called again to acknowledge it, or the model of its run works on it; answered with the
// first message of the agent in the space after that which mentions the sender, replies to
// the message, or is of its run; and failed when its run has failed or was canceled.
const (
	ReceiptSent      ReceiptState = "sent"
	ReceiptDelivered ReceiptState = "delivered"
	ReceiptResumed   ReceiptState = "resumed"
	ReceiptAnswered  ReceiptState = "answered"
	ReceiptFailed    ReceiptState = "failed"
)

// Receipt is what became of the mention of one agent. Via is how it was delivered. RunID is
// the run of a hosted agent that acts on it. AnsweredAt is when the answer was begun.
// FailedReason is the code of the failure. Text explains a state that needs it in a few
// words, and is empty for others.
type Receipt struct {
	EntityID     EntityID     `json:"entityId"`
	State        ReceiptState `json:"state"`
	Via          *string      `json:"via"`
	RunID        *RunID       `json:"runId"`
	DeliveredAt  *Time        `json:"deliveredAt"`
	ResumedAt    *Time        `json:"resumedAt"`
	AnsweredAt   *Time        `json:"answeredAt"`
	AnsweredBy   *MessageID   `json:"answeredBy"`
	FailedReason *string      `json:"failedReason"`
	Text         string       `json:"text"`
}

// Final reports whether nothing more is expected to happen.
func (r Receipt) Final() bool { return r.State == ReceiptAnswered || r.State == ReceiptFailed }
