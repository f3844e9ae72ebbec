package runs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// SentRequest is the model request of a step, ready to be stored with
// [RunChange.SaveRequest].
type SentRequest struct {
	row    storage.Request
	hashes []string            // the hashes of all texts that the row refers to, directly or through lists
	texts  map[string]string   // by hash, without those that Forget dropped
	groups map[string][]string // the entries of the texts that are lists
}

// NewModelText returns a component of a model request as a text: the system prompt (a
// string), the list of tools, or a message.
func NewModelText(v any) (storage.ModelText, error) {
	text, err := shoal.EncodeJSON(v)
	if err != nil {
		return storage.ModelText{}, fmt.Errorf("hub: what a model was sent: %w", err)
	}
	return modelText(string(text)), nil
}

func modelText(body string) storage.ModelText {
	sum := sha256.Sum256([]byte(body))
	return storage.ModelText{Hash: base64.RawURLEncoding.EncodeToString(sum[:]), Body: body}
}

// NewSentRequest composes the model request of a step from its texts. A text without a body
// is known to be stored.
func NewSentRequest(step int, model string, system, tools storage.ModelText, messages []storage.ModelText) SentRequest {
	s := SentRequest{row: storage.Request{Step: step, Model: model}, texts: map[string]string{}, groups: map[string][]string{}}
	s.row.System, s.row.Tools = s.addText(system), s.addText(tools)
	hashes := make([]string, len(messages))
	for i, m := range messages {
		hashes[i] = s.addText(m)
	}
	s.fold(hashes)
	return s
}

// addText adds a text and returns its hash.
func (s *SentRequest) addText(text storage.ModelText) string {
	s.hashes = append(s.hashes, text.Hash)
	if text.Body != "" {
		s.texts[text.Hash] = text.Body
	}
	return text.Hash
}

// groupSize is how many hashes a text lists.
const groupSize = 32

// fold shortens a list of hashes: each full group becomes a text of its own, whose hash
// replaces it one level higher, and so on. Lists with the same beginning share these texts,
// so that a step stores only what is new and not the whole history. The first level is the
// end of the list.
func (s *SentRequest) fold(list []string) {
	s.row.Messages = [][]string{}
	for len(list) > 0 {
		whole := len(list) / groupSize * groupSize
		s.row.Messages = append(s.row.Messages, list[whole:])
		var up []string
		for group := range slices.Chunk(list[:whole], groupSize) {
			hash := s.addText(modelText(strings.Join(group, "\n")))
			s.groups[hash] = group
			up = append(up, hash)
		}
		list = up
	}
}

// unfold reverses fold; expand returns the texts of hashes.
func unfold(levels [][]string, expand func(hashes []string) ([]string, error)) (list []string, err error) {
	for _, end := range slices.Backward(levels) {
		groups, err := expand(list)
		if err != nil {
			return nil, err
		}
		list = nil
		for _, group := range groups {
			list = append(list, strings.Split(group, "\n")...)
		}
		list = append(list, end...)
	}
	return list, nil
}

// Forget drops the texts that are known to be stored.
func (s *SentRequest) Forget(known func(hash string) bool) {
	for hash := range s.texts {
		if known(hash) {
			delete(s.texts, hash)
		}
	}
}

// Step returns the index of the step.
func (s *SentRequest) Step() int { return s.row.Step }

// Hashes returns the hashes of all texts of the request, including those that Forget
// dropped.
func (s *SentRequest) Hashes() []string { return s.hashes }

// DropStoredTexts drops the texts that the session already stores. It is useful when a large
// part of a history may be stored. While a run is in progress no text of its session is
// erased, so the result stays valid.
func (w *Work) DropStoredTexts(ctx context.Context, session shoal.SessionID, s *SentRequest) error {
	return w.core.View(ctx, "hub.Work.DropStoredTexts", func(tx storage.Tx) error {
		left := slices.Concat([]string{s.row.System, s.row.Tools}, slices.Concat(s.row.Messages...))
		stored := map[string]bool{}
		for len(left) > 0 {
			unknown, err := tx.UnknownTexts(session, left)
			if err != nil {
				return err
			}
			for _, hash := range left {
				stored[hash] = true
			}
			var inside []string
			for _, hash := range unknown {
				stored[hash] = false
				inside = append(inside, s.groups[hash]...)
			}
			left = inside
		}
		// The entries of a stored list were stored with it.
		s.Forget(func(hash string) bool { is, seen := stored[hash]; return is || !seen })
		return nil
	})
}

// SaveRequest stores the model request of a step of the run, with the texts that were not
// dropped.
func (c *RunChange) SaveRequest(s SentRequest) error {
	texts := make([]storage.ModelText, 0, len(s.texts))
	for hash, text := range s.texts {
		texts = append(texts, storage.ModelText{Hash: hash, Body: text})
	}
	if err := c.PutTexts(c.Run.SessionID, texts); err != nil {
		return err
	}
	return c.PutRequest(c.Run.SessionID, c.Run.ID, s.row)
}

// Request returns the model request of a step of a run. It requires a service or an admin.
// It fails with NotFound for a step that the run has not reached or whose request is not
// stored.
func (r *Runs) Request(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID, step int) (out shoal.ModelRequest, err error) {
	const op = "hub.Runs.Request"
	if err := core.Authorize(caller, session, roles.ReadModels); err != nil {
		return out, core.Wrap(op, err)
	}
	err = r.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.VisibleRun(tx, caller, session, id); err != nil {
			return err
		}
		row, err := tx.ModelRequest(session, id, step)
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("The model request of step %d of the run %q is not stored: the run has not reached the step, or the request was never stored or is older than the retention time.", step, id))
		}
		if err == nil {
			out, err = assembleRequest(tx, session, row)
		}
		return err
	})
	return out, err
}

// assembleRequest rebuilds a model request from its stored texts.
func assembleRequest(tx Tx, session shoal.SessionID, row storage.Request) (shoal.ModelRequest, error) {
	out := shoal.ModelRequest{Model: row.Model, Tools: []shoal.ModelTool{}, Messages: []shoal.ModelMessage{}}
	expand := func(hashes []string) ([]string, error) { return readTexts(tx, session, hashes) }
	hashes, err := unfold(row.Messages, expand)
	if err != nil {
		return out, err
	}
	texts, err := expand(slices.Concat([]string{row.System, row.Tools}, hashes))
	if err != nil {
		return out, err
	}
	err = errors.Join(json.Unmarshal([]byte(texts[0]), &out.System), json.Unmarshal([]byte(texts[1]), &out.Tools))
	for _, text := range texts[2:] {
		var m shoal.ModelMessage
		err = errors.Join(err, json.Unmarshal([]byte(text), &m))
		out.Messages = append(out.Messages, m)
	}
	if err != nil {
		err = &shoal.Error{Kind: shoal.Internal, Msg: "The stored model request cannot be read.", Err: err}
	}
	return out, err
}

// readTexts returns the texts of hashes in the same order.
func readTexts(tx Tx, session shoal.SessionID, hashes []string) ([]string, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	found, err := tx.ModelTexts(session, hashes)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(hashes))
	for i, hash := range hashes {
		text, there := found[hash]
		if !there {
			return nil, shoal.E("", shoal.Internal, "A text of the stored model request is missing.")
		}
		out[i] = text
	}
	return out, nil
}
