package hub

import "github.com/shoal-dev/shoal"

// RequestTx keeps what models were sent for the steps of runs. A request is a row of
// references to texts, and a session keeps each text once, under its hash: a history
// that does not change is not stored again.
type RequestTx interface {
	// UnknownTexts returns those of the hashes under which the session keeps nothing,
	// in their order.
	UnknownTexts(session shoal.SessionID, hashes []string) ([]string, error)
	// PutTexts keeps texts under their hashes. Those that are kept already stay.
	PutTexts(session shoal.SessionID, texts []ModelText) error
	// ModelTexts returns texts by their hashes, without those that are not kept.
	ModelTexts(session shoal.SessionID, hashes []string) (map[string]string, error)
	// PutRequest stores what was sent for a step; that of the same step is replaced.
	PutRequest(session shoal.SessionID, run shoal.RunID, r StoredRequest) error
	// ModelRequest is NotFound for a step of which nothing is stored.
	ModelRequest(session shoal.SessionID, run shoal.RunID, step int) (StoredRequest, error)
	// Requests returns the requests of a session behind a place, in an order of their
	// own, and the place of the last; the empty one is the beginning.
	Requests(session shoal.SessionID, after RequestPlace, limit int) ([]StoredRequest, RequestPlace, error)
	// DropRequests erases what was sent for runs that ended before a time, limit
	// requests at most, and returns the sessions that they were of, each once.
	DropRequests(before shoal.Time, limit int) ([]shoal.SessionID, error)
	// TextHashes returns the hashes behind one under which the session keeps texts, in
	// their order.
	TextHashes(session shoal.SessionID, after string, limit int) ([]string, error)
	// DropTexts erases texts. Nothing may lead to them any more.
	DropTexts(session shoal.SessionID, hashes []string) error
	// Claims counts how often runs of a session were ever claimed, and says whether one
	// is in progress: a run that is knows what is kept.
	Claims(session shoal.SessionID) (n int64, held bool, err error)
}

// RequestPlace is a place in the list of the requests of a session.
type RequestPlace struct {
	Run  shoal.RunID
	Step int
}

// ModelText is a text that models were sent, or a list of hashes of such.
type ModelText struct{ Hash, Body string }

// StoredRequest is what was sent for a step. System and Tools are hashes of texts;
// Messages is a list of hashes, folded as the hub folds it.
type StoredRequest struct {
	Step          int
	Model         string
	System, Tools string
	Messages      [][]string
}
