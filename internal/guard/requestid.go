package guard

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

const (
	requestIDHeader = "X-Request-Id"
	// maxRequestID is how long the id of a client may be: longer than those of
	// usual tracing, and too short for a key, which somebody may put there by
	// mistake, to be repeated in answers.
	maxRequestID = 40
)

// name gives a request its id: the one that the client has sent, if it is fit, so
// that one id runs through the logs of all servers on the way; else a new one. The
// header of the answer has it from then on.
func name(w http.ResponseWriter, r *http.Request) {
	sent := r.Header[requestIDHeader]
	if len(sent) != 1 || !fit(sent[0]) {
		sent = []string{shoal.NewID[string]("req_")}
	}
	w.Header()[requestIDHeader] = sent
}

// fit reports whether an id of a client is safe in logs and answers.
func fit(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// RequestID returns the id of the request that w answers, "" if no [Guard] has
// seen it.
func RequestID(w http.ResponseWriter) string {
	if id := w.Header()[requestIDHeader]; len(id) == 1 {
		return id[0]
	}
	return ""
}
