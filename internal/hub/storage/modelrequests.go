package storage

import (
	"github.com/shoal-dev/shoal"
)

// RequestTx stores the model requests of the steps of runs. A request is a row of
// references to texts. A session stores each text once, under its hash, so an unchanged
// history is not stored again.
type RequestTx interface {
	// UnknownTexts returns those of the hashes under which the session has no text, in
	// the given order.
	UnknownTexts(session shoal.SessionID, hashes []string) ([]string, error)
	// PutTexts stores texts under their hashes. Texts that are already stored stay.
	PutTexts(session shoal.SessionID, texts []ModelText) error
	// ModelTexts returns texts by their hashes, without those that are not stored.
	ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error)
	// PutRequest stores the request of a step and replaces an earlier one of that step.
	PutRequest(session shoal.SessionID, run shoal.RunID, r Request) error
	// ModelRequest fails with NotFound for a step without a stored request.
	ModelRequest(session shoal.SessionID, run shoal.RunID, step int) (Request, error)
	// Requests returns the requests of a session after a position, in an order of their
	// own, and the position of the last one. The zero position is the beginning.
	Requests(session shoal.SessionID, after RequestPosition, limit int) ([]Request, RequestPosition, error)
	// DropRequests erases at most limit requests of runs of the session that ended before a
	// time, and returns how many.
	DropRequests(session shoal.SessionID, before shoal.Time, limit int) (int, error)
	// TextHashes returns the hashes of the stored texts of a session, in order, starting
	// after the given one.
	TextHashes(session shoal.SessionID, after string, limit int) ([]string, error)
	// DropTexts erases texts. No request may refer to them any more.
	DropTexts(session shoal.SessionID, hashes []string) error
	// Claims counts how often runs of a session were ever claimed, and reports whether a
	// run is held: a run in progress relies on the texts that it knows to be stored.
	Claims(session shoal.SessionID) (n int64, held bool, err error)
}

// RequestPosition is a position in the list of the requests of a session.
type RequestPosition struct {
	Run  shoal.RunID
	Step int
}

// ModelText is a text of model requests, or a list of hashes of such texts.
type ModelText struct{ Hash, Body string }

// Request is the model request of a step. System and Tools are hashes of texts;
// Messages is a list of hashes, folded as the hub folds it.
type Request struct {
	Step          int
	Model         string
	System, Tools string
	Messages      [][]string
}
