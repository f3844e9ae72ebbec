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
