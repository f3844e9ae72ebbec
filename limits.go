package shoal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/jsontext"
)

// Limits of inputs. Sizes are bytes of UTF-8.
const (
	MaxID          = 64
	MaxName        = 200
	MaxDescription = 4 << 10
	MaxContent     = 256 << 10
	MaxParts       = 200
	MaxMentions    = 100
	// MaxVersions is how many earlier versions of an edited message are kept: the first
	// and the newest.
	MaxVersions = 50
	// MaxMembers is how many members a space may have, and MaxNewMembers how many the call
	// that creates it may name.
	MaxMembers    = 10_000
	MaxNewMembers = 1000
	// MaxListedMembers is how many members a [Space] contains.
	MaxListedMembers = 100
	MaxSummary       = 16 << 10
	MaxMetadata      = 16 << 10
	MaxDepth         = 16
	MaxPage          = 200
	DefaultPage      = 50
	MaxBatch         = 100
	MaxIdempotency   = 255
	// MaxCursor is how long a cursor may be: of a list, of an event stream, or of a wait.
	MaxCursor = 256
	// MaxFileSize is the largest size that a file part may declare: the largest number that
	// every client can represent exactly.
	MaxFileSize = 1<<53 - 1
)

// Limits of a wait. A longer or negative time-out is clamped, not refused.
const (
	DefaultWait = 30 * time.Second
	MaxWait     = 600 * time.Second
	// MaxOpenWaits is how many waits one entity may have open, and how many adapters may wait for
	// it beside that. One more ends the oldest of its kind as timed out.
	MaxOpenWaits = 4
	// MaxWaitAgents is how many agents one wait for agents may name.
	MaxWaitAgents = 100
)

// Retention times.
const (
	// IdempotencyWindow is how long the first response for an idempotency key is stored.
	// The key of a message is stored as long as the message.
	IdempotencyWindow = 24 * time.Hour
	// PresenceWindow is how long an entity counts as connected after a call.
	PresenceWindow = 60 * time.Second
)

// PageLimit returns n clamped to 1…MaxPage, or fallback when n is zero.
func PageLimit(n, fallback int) int {
	if n == 0 {
		n = fallback
	}
	return min(max(n, 1), MaxPage)
}

// ClampWait returns d clamped to 0…MaxWait.
func ClampWait(d time.Duration) time.Duration { return min(max(d, 0), MaxWait) }

// checkLine checks a name of one line: required or not, bounded, valid UTF-8
// and without control characters, which could rewrite a reader's terminal.
func checkLine(field, s string, limit int, required bool) error {
	switch {
	case s == "" && required:
		return Invalid(field, "is missing")
	case len(s) > limit:
		return Invalid(field, fmt.Sprintf("has %d bytes; at most %d are allowed", len(s), limit))
	case !utf8.ValidString(s):
		return Invalid(field, "is not valid UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return Invalid(field, "must not contain control characters or line breaks")
		}
	}
	return nil
}

// checkText checks a text of any number of lines.
func checkText(field, s string, limit int) error {
	switch {
	case len(s) > limit:
		what := fmt.Sprintf("has %d bytes; at most %d are allowed", len(s), limit)
		return &Error{Kind: TooLarge, Msg: field + " " + what, Fields: []FieldError{{Location: field, Message: what}}}
	case !utf8.ValidString(s):
		return Invalid(field, "is not valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return Invalid(field, "must not contain the character U+0000")
	}
	return nil
}

// checkObject checks that raw is empty or a JSON object within size and depth.
func checkObject(field string, raw json.RawMessage, limit int) error {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > limit {
		return Invalid(field, fmt.Sprintf("has %d bytes of JSON; at most %d are allowed", len(raw), limit))
	}
	if !json.Valid(raw) || bytes.TrimSpace(raw)[0] != '{' {
		return Invalid(field, "must be a JSON object")
	}
	if JSONDepth(raw) > MaxDepth {
		return Invalid(field, fmt.Sprintf("is nested deeper than %d levels", MaxDepth))
	}
	if bytes.Contains(raw, []byte(`\u0000`)) {
		return Invalid(field, "must not contain the character U+0000")
	}
	return nil
}

// EncodeJSON is [json.Marshal] without the escapes of <, > and &, which only HTML needs.
// JSON within JSON keeps its bytes, so the text of a model is stored, streamed and
// returned as it was.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// JSONDepth returns how deeply valid JSON nests: 0 for a value that is neither an array nor
// an object.
func JSONDepth[T ~string | ~[]byte](text T) int { return jsontext.Depth(text) }
