package storage

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// AnswerTx stores the first responses to calls with idempotency keys.
type AnswerTx interface {
	// Answer fails with NotFound when no response is stored.
	Answer(key AnswerKey) (Answer, error)
	// InsertAnswer replaces an older response under the same key.
	InsertAnswer(key AnswerKey, a Answer) error
	// DropAnswers erases the responses from before a time.
	DropAnswers(before time.Time) error
}

// AnswerKey identifies a stored response: an idempotency key, the principal that used it
// and the operation.
type AnswerKey struct {
	Session           shoal.SessionID
	Scope, Route, Key string
}

// Answer is the response to the first call, with the hash of its request.
type Answer struct {
	Hash string
	Body []byte
	At   shoal.Time
}
