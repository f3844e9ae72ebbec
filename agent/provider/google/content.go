package google

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// content is a turn on the wire, in both directions.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts,omitempty"`
}

// part is a piece of a turn. Signature is base64 and stays unread.
type part struct {
	Text      string        `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
	Inline    *inline       `json:"inlineData,omitempty"`
	File      *fileRef      `json:"fileData,omitempty"`
	Call      *functionCall `json:"functionCall,omitempty"`
	Response  *response     `json:"functionResponse,omitempty"`

	raw json.RawMessage // of a part of another kind, which is kept as it is
}

// UnmarshalJSON keeps parts of the kinds that this package does not know: what the
// provider's own tools did, such as code and its result.
func (p *part) UnmarshalJSON(text []byte) error {
	type known part
	if err := json.Unmarshal(text, (*known)(p)); err != nil {
		return err
	}
	if p.Text != "" || p.Inline != nil || p.File != nil || p.Call != nil || p.Response != nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for _, name := range []string{"text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse"} {
		delete(fields, name)
	}
	if len(fields) > 0 {
		p.raw = slices.Clone(text)
	}
	return nil
}

// MarshalJSON writes a part that was kept as it came.
func (p part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	type known part
	return json.Marshal(known(p))
}

type inline struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

type fileRef struct {
	MediaType string `json:"mimeType,omitempty"`
	URL       string `json:"fileUri"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID     string            `json:"id,omitempty"`
	Name   string            `json:"name"`
	Result map[string]string `json:"response"`
}

// opaque is what this package writes into a part. ID is the id of a call as the
// API gave it; one that was made here is not sent.
type opaque struct {
	Provider  string `json:"provider"`
	Signature string `json:"signature,omitempty"`
	ID        string `json:"id,omitempty"`
	// Parts are of the provider's own tools, after the thoughts that they came with.
	Parts []json.RawMessage `json:"parts,omitempty"`
}

// unsigned is what the API takes in place of a signature for a call that it did
// not make.
const unsigned = "skip_thought_signature_validator"

// own returns what a part holds of this provider, or nothing.
func (w *writer) own(raw json.RawMessage) opaque {
	var o opaque
	if json.Unmarshal(raw, &o) != nil || o.Provider != w.provider {
		return opaque{}
	}
	return o
}

// writer writes the messages of one conversation.
type writer struct {
	provider string
	old      bool
	ids      map[string]string // of calls, as the API gave them
}

// answer writes a message of the model.
func (w *writer) answer(msg agent.Message) []part {
	var parts []part
	called := false
	for _, p := range msg.Parts {
		o := w.own(p.Opaque)
		switch p.Type {
		case agent.TextPart:
			if p.Text != "" || o.Signature != "" {
				parts = append(parts, part{Text: p.Text, Signature: o.Signature})
			}
		case agent.ReasoningPart:
			if o.Signature != "" && (p.Text != "" || len(o.Parts) == 0) { // without one there is no use in giving it back
				parts = append(parts, part{Text: p.Text, Thought: true, Signature: o.Signature})
			}
			if msg.Interrupted {
				continue // code may lack its result
			}
			for _, raw := range o.Parts {
				parts = append(parts, part{raw: raw})
			}
		case agent.FilePart:
			parts = append(parts, file(p.File))
		case agent.CallPart:
			// Of parallel calls only the first one is signed.
			if o.Signature == "" && !called && !w.old {
				o.Signature = unsigned
			}
			called = true
			w.ids[p.Call.ID] = o.ID
			parts = append(parts, part{Signature: o.Signature, Call: &functionCall{ID: o.ID, Name: p.Call.Name, Args: wire.Object(p.Call.Arguments)}})
		}
	}
	return parts
}

// input writes a message of the user or of the tools: the results (and their
// files after them), and what else was said.
func (w *writer) input(msg agent.Message) (results, said []part) {
	var files []part
	for _, p := range msg.Parts {
		switch p.Type {
		case agent.TextPart:
			if p.Text != "" {
				said = append(said, part{Text: p.Text})
			}
		case agent.FilePart:
			said = append(said, file(p.File))
		case agent.ResultPart:
			r := p.Result
			key := "output"
			if r.Status.Flagged() {
				key = "error"
			}
			results = append(results, part{Response: &response{ID: w.ids[r.CallID], Name: r.Name, Result: map[string]string{key: r.Text}}})
			for i := range r.Files {
				files = append(files, part{Text: "A file from the result of " + r.Name + ":"}, file(&r.Files[i]))
			}
		}
	}
	return append(results, files...), said
}

// taken are the media types that the API documents, beside all of audio and
// video. Texts go as text: of their types it takes only some.
var taken = []string{"application/pdf", "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}

// file writes an image or a document; what the API cannot take becomes a line
// that says so, since one odd file would make every later call fail.
func file(f *agent.File) part {
	kind := wire.Kind(f)
	top, _, _ := strings.Cut(kind, "/")
	switch {
	case wire.IsText(f):
		return part{Text: fmt.Sprintf("[%s (%s)]\n%s", cmp.Or(f.Name, "file"), f.MediaType, f.Data)}
	case !slices.Contains(taken, kind) && top != "audio" && top != "video":
	case len(f.Data) > 0:
		return part{Inline: &inline{MediaType: kind, Data: f.Data}}
	case f.URL != "":
		return part{File: &fileRef{MediaType: kind, URL: f.URL}}
	}
	return part{Text: fmt.Sprintf("[A file %q of type %q is here that this model cannot read.]", f.Name, f.MediaType)}
}
