package guard

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
)

// statuses is the one table of error kinds and HTTP statuses.
var statuses = map[shoal.Kind]int{
	shoal.InvalidJSON:          http.StatusBadRequest,
	shoal.InvalidArgument:      http.StatusUnprocessableEntity,
	shoal.EntityRequired:       http.StatusBadRequest,
	shoal.Unauthenticated:      http.StatusUnauthorized,
	shoal.Forbidden:            http.StatusForbidden,
	shoal.IdentityMismatch:     http.StatusForbidden,
	shoal.NotFound:             http.StatusNotFound,
	shoal.AlreadyExists:        http.StatusConflict,
	shoal.SpaceClosed:          http.StatusConflict,
	shoal.SessionClosed:        http.StatusConflict,
	shoal.AdminRequired:        http.StatusConflict,
	shoal.Conflict:             http.StatusConflict,
	shoal.AlreadyAnswered:      http.StatusConflict,
	shoal.ArgsChanged:          http.StatusConflict,
	shoal.RunNotWaiting:        http.StatusConflict,
	shoal.IdempotencyMismatch:  http.StatusConflict,
	shoal.Expired:              http.StatusGone,
	shoal.TooLarge:             http.StatusRequestEntityTooLarge,
	shoal.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	shoal.RateLimited:          http.StatusTooManyRequests,
	shoal.TooManyWaiters:       http.StatusTooManyRequests,
	shoal.Internal:             http.StatusInternalServerError,
	shoal.Busy:                 http.StatusServiceUnavailable,
	shoal.StorageFull:          http.StatusInsufficientStorage,
	shoal.ServerTooOld:         http.StatusNotImplemented,
	shoal.ClientTooOld:         http.StatusNotImplemented,
}

// LogInternal logs an error that is an internal one, and ignores others: callers of the server
// see those. The id is that of the request.
func LogInternal(log *slog.Logger, r *http.Request, id string, err error) {
	if Status(shoal.KindOf(err)) == http.StatusInternalServerError {
		log.Error("a call failed", "request", id, "method", r.Method, "path", r.URL.Path, "error", err)
	}
}

// Status returns the HTTP status for an error of this kind, and 500 for
// a kind that it does not know.
func Status(kind shoal.Kind) int {
	if status, ok := statuses[kind]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// WriteProblem answers a request with err as a problem document (RFC 9457). The
// outermost *shoal.Error in err's chain decides the status, the code, the
// sentence and the wrong fields; its cause is not included. An internal error, and
// any other error, appears only as `internal`: the caller logs it.
//
// A 401 gets the header WWW-Authenticate: Bearer, a 429 or 503 Retry-After with
// the seconds of the error's RetryAfter, at least 1, unless the caller has set them
// already. The document names the request as [RequestID] does. The document is written whole, in one
// Write; WriteProblem must be the first to write to w. A client that has disconnected is
// not an error.
func WriteProblem(w http.ResponseWriter, err error) {
	public := publicError(err)
	writeProblem(w, Status(public.Kind), public)
}

// WriteMethodNotAllowed answers a request with 405; no error kind has this status. allow are the
// methods that the path takes, as in the header Allow.
func WriteMethodNotAllowed(w http.ResponseWriter, allow, detail string) {
	w.Header().Set("Allow", allow)
	writeProblem(w, http.StatusMethodNotAllowed, &shoal.Error{Kind: "method_not_allowed", Msg: detail})
}

// WriteRPCError answers a request to MCP that cannot be answered by the
// protocol itself, with err as a JSON-RPC error object whose id is null. Its
// code is -32700 for an error of kind InvalidJSON, -32603 for an internal one,
// else -32600; its message is the kind, a colon and the sentence. For the rest
// it does what [WriteProblem] does.
func WriteRPCError(w http.ResponseWriter, err error) {
	public := publicError(err)
	writeRPCError(w, Status(public.Kind), public)
}

// WriteText answers a request with the sentence of err as plain text, for clients that show the body to
// their user. For the rest it does what [WriteProblem] does.
func WriteText(w http.ResponseWriter, err error) {
	public := publicError(err)
	writeText(w, Status(public.Kind), public)
}

func writeText(w http.ResponseWriter, status int, err *shoal.Error) {
	writeError(w, status, textMedia, []byte(err.Msg), err.RetryAfter)
}

// Public returns the sentence of err that a client may see, as [WriteText] writes it.
func Public(err error) string { return publicError(err).Msg }

// publicError returns the part of err that a client may see.
func publicError(err error) *shoal.Error {
	var public *shoal.Error
	if errors.As(err, &public) && Status(public.Kind) != http.StatusInternalServerError {
		return public
	}
	return &shoal.Error{Kind: shoal.Internal, Msg: "Something went wrong on the server."}
}

func writeProblem(w http.ResponseWriter, status int, err *shoal.Error) {
	// The code says more than a URI of ours could, so the type is the one that
	// means "see the status".
	b := append(make([]byte, 0, 512), `{"type":"about:blank","title":`...)
	b = appendText(b, http.StatusText(status))
	b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	b = appendText(append(b, `,"detail":`...), err.Msg)
	b = appendText(append(b, `,"code":`...), string(err.Kind))
	if len(err.Fields) > 0 {
		b = appendValue(append(b, `,"errors":`...), err.Fields)
	}
	if id := RequestID(w); id != "" {
		b = appendText(append(b, `,"requestId":`...), id)
	}
	writeError(w, status, problemType, append(b, '}'), err.RetryAfter)
}

func writeRPCError(w http.ResponseWriter, status int, err *shoal.Error) {
	code := int64(-32600)
	switch err.Kind {
	case shoal.InvalidJSON:
		code = -32700
	case shoal.Internal:
		code = -32603
	}
	b := append(make([]byte, 0, 256), `{"jsonrpc":"2.0","id":null,"error":{"code":`...)
	b = append(strconv.AppendInt(b, code, 10), `,"message":`...)
	b = appendText(b, string(err.Kind)+": "+err.Msg)
	writeError(w, status, jsonMedia, append(b, "}}"...), err.RetryAfter)
}

// appendText appends text as a JSON string, as encoding/json writes it. Refusals are many when a
// server has too much to do, and most of their texts need no escapes.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return appendValue(b, text)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendValue(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	return append(b, text...)
}

// Header values that all answers share. They must not be appended to.
var (
	problemType = []string{"application/problem+json"}
	jsonMedia   = []string{"application/json"}
	textMedia   = []string{"text/plain; charset=utf-8"}
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
)

func writeError(w http.ResponseWriter, status int, mediaType []string, text []byte, retryAfter time.Duration) {
	header := w.Header()
	header["Content-Type"] = mediaType
	header["Content-Length"] = []string{strconv.Itoa(len(text))}
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	switch status {
	case http.StatusUnauthorized:
		setDefault(header, "WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		setDefault(header, "Retry-After", RetryAfter(retryAfter))
	}
	w.WriteHeader(status)
	// A failed write means that the client has disconnected.
	_, _ = w.Write(text)
}

// RetryAfter returns the value of the header Retry-After for a delay: whole seconds, at
// least one.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}

func setDefault(header http.Header, name, value string) {
	if header.Get(name) == "" {
		header.Set(name, value)
	}
}
