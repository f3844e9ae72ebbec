package guard

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

const (
	// MaxBody is how many bytes the body of a request may have.
	MaxBody = 1 << 20
	// MaxMCPBody is how many bytes the body of a request to MCP may have.
	MaxMCPBody = 4 << 20
	// MaxLongBody is how many bytes a body may have that is shortened as it arrives.
	MaxLongBody = 64 << 20
	// MaxDepth is how many arrays and objects a JSON body may nest.
	MaxDepth = 64
	// BodyTime is how long a body may take to arrive.
	BodyTime = 10 * time.Second

	// maxHeard is how much of a refused body is read and thrown away. Many
	// clients send a body to its end before they read an answer; one that is
	// cut off sees a broken connection in its place.
	maxHeard = 8 << 20
	// maxDrained is how much of a body is read whose sender is over a limit. Refusing must
	// cost little: a larger body ends its connection.
	maxDrained = 64 << 10
)

// wholeBody is a body that has been read. It can be read like any other.
type wholeBody struct {
	bytes.Reader
	data []byte
}

// Close does nothing: a body that has been read holds nothing.
func (b *wholeBody) Close() error { return nil }

// Body returns the whole body of a request that came through a [Guard], without
// reading it: it gives the same bytes each time, before and after r.Body is
// read. The bytes are shared and must not be changed. Body returns nil for a
// request without a body, and if something between the guard and the caller has
// replaced r.Body.
func Body(r *http.Request) []byte {
	if b, ok := r.Body.(*wholeBody); ok {
		return b.data
	}
	return nil
}

// hasBody reports whether the client sends a body, even if an empty one.
func hasBody(r *http.Request) bool { return r.ContentLength != 0 }

// limitTime gives the body of a request BodyTime to arrive. The deadline ends
// with the body, or for a body that is not read with the request.
func limitTime(w http.ResponseWriter) { setReadDeadline(w, time.Now().Add(BodyTime)) }

func setReadDeadline(w http.ResponseWriter, deadline time.Time) {
	err := http.NewResponseController(w).SetReadDeadline(deadline)
	if errors.Is(err, http.ErrNotSupported) {
		panic("guard: the ResponseWriter has no read deadline; what wraps it must have an Unwrap method")
	}
	// Any other error is that of a broken connection, and reading returns it, too.
}

// readBody checks the type of a body, reads it under the limits and scans it.
// It returns a copy of the request with the body that was read, in memory of b, also
// when it fails; a request without a body comes back as it is.
func (g *Guard) readBody(w http.ResponseWriter, r *http.Request, mcp bool, b *body) (*http.Request, *shoal.Error) {
	if err := checkCoding(w, r); err != nil {
		return r, err
	}
	// A POST to MCP is a message or it is nothing.
	if needed := mcp && r.Method == http.MethodPost; !hasBody(r) && !needed {
		return r, nil
	}
	json, err := g.checkType(r)
	if err != nil {
		return r, err
	}
	most := int64(MaxBody)
	if mcp {
		most = MaxMCPBody
	}
	var data []byte
	if shorten := g.shortener(r); shorten != nil {
		data, err = b.readShort(r, shorten)
	} else {
		data, err = b.readAll(r, most)
	}
	if err != nil {
		return r, err
	}
	if hasBody(r) {
		setReadDeadline(w, time.Time{})
	}
	if json && (mcp || len(data) > 0) {
		var wrong *shoal.Error
		if errors.As(Scan(data, MaxDepth), &wrong) {
			return r, wrong
		}
	}
	whole := &wholeBody{data: data}
	whole.Reset(data)
	read := *r
	read.Body, read.ContentLength, read.TransferEncoding = whole, int64(len(data)), nil
	return &read, nil
}

// checkCoding refuses compressed bodies: a small one can unfold to any size.
func checkCoding(w http.ResponseWriter, r *http.Request) *shoal.Error {
	for _, line := range r.Header["Content-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				w.Header().Set("Accept-Encoding", "identity")
				return shoal.E("guard.checkCoding", shoal.UnsupportedMediaType,
					"The body has the content coding "+quoted(coding)+". Send it as it is, without Content-Encoding.")
			}
		}
	}
	return nil
}

// checkType refuses types that the path does not take, above all the three that
// any web page may send without asking (text/plain and the two of forms). It
// reports whether the type is JSON.
func (g *Guard) checkType(r *http.Request) (json bool, refusal *shoal.Error) {
	sent := r.Header.Get("Content-Type")
	if sent == "application/json" {
		return true, nil
	}
	mediaType, _, err := mime.ParseMediaType(sent)
	if err == nil && (mediaType == "application/json" ||
		strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json")) {
		return true, nil
	}
	types := []string{"application/json"}
	if g.accept != nil {
		types = append(types, g.accept(r)...)
	}
	if err == nil && slices.Contains(types, mediaType) {
		return false, nil
	}
	said := "has no Content-Type"
	if sent != "" {
		said = "has the Content-Type " + quoted(sent)
	}
	return false, shoal.E("guard.checkType", shoal.UnsupportedMediaType,
		"The body "+said+". Send "+strings.Join(types, " or ")+".")
}

// bodies is the memory of bodies that are being read or answered, of all callers.
type bodies struct{ *limit.Open }

// body is the memory that one body holds.
type body struct {
	bodies
	caller limit.Caller
	held   int64
}

// hold takes so many bytes, if they are there.
func (b *body) hold(size int64) bool {
	if b.Take(b.caller, size) != limit.Entered {
		return false
	}
	b.held += size
	return true
}

func (b *body) release() { b.Give(b.caller, b.held) }

// readAll reads the body of a request, which may have at most limit bytes. Its
// memory grows with what has arrived, not with what was announced, and is held until
// release, whether it fails or not.
func (b *body) readAll(r *http.Request, limit int64) (data []byte, _ *shoal.Error) {
	const op = "guard.readAll"
	if r.ContentLength > limit {
		return nil, tooLarge(op, limit)
	}
	const most = 64 << 10
	next, whole := int64(512), limit+1 // of a body that is not announced
	if r.ContentLength >= 0 {
		whole = r.ContentLength + 1 // one more, where a read of its own reports the end
		next = min(whole, most)
	}
	for {
		if len(data) == cap(data) {
			if !b.hold(next) {
				return nil, noMemory(op)
			}
			data = append(make([]byte, 0, int64(len(data))+next), data...)
			next = min(int64(cap(data)), whole-int64(cap(data)))
		}
		n, err := r.Body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(op, limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, cutShort(op, err, BodyTime)
		}
	}
}

// shortener returns the function that shortens the body of a request, nil for a body that is
// read as it is.
func (g *Guard) shortener(r *http.Request) func(io.Reader, int) ([]byte, error) {
	if g.shorten == nil || r.ContentLength <= MaxBody {
		return nil
	}
	return g.shorten(r)
}

// readShort reads the body of a request and makes it shorter. The memory that this needs at
// most is held until release, whether it fails or not.
func (b *body) readShort(r *http.Request, shorten func(io.Reader, int) ([]byte, error)) ([]byte, *shoal.Error) {
	const op = "guard.readShort"
	if r.ContentLength > MaxLongBody {
		return nil, tooLarge(op, MaxLongBody)
	}
	if !b.hold(3 * MaxBody) { // what is kept, what is returned, and the value that is read
		return nil, noMemory(op)
	}
	data, err := shorten(r.Body, MaxBody)
	var refusal *shoal.Error
	switch {
	case err == nil:
		return data, nil
	case errors.As(err, &refusal):
		return nil, refusal
	}
	return nil, cutShort(op, err, BodyTime)
}

// noMemory refuses a body for which no memory is left.
func noMemory(op string) *shoal.Error {
	return shoal.E(op, shoal.Busy, "The server is reading more at once than it has memory for; nothing was done. Try again in a moment.")
}

// hearOut reads what a client still sends of a refused body, up to maxHeard
// bytes and within the time for bodies. A client that waits to be asked for its
// body is not asked.
func hearOut(r *http.Request) {
	if hasBody(r) && r.Header.Get("Expect") == "" {
		// An error ends the connection with the answer; nobody reads a message.
		_, _ = io.CopyN(io.Discard, r.Body, maxHeard)
	}
}

// drain reads a small body of a sender that is over a limit, so that its connection can be used
// again. A larger one ends the connection with the answer.
func drain(w http.ResponseWriter, r *http.Request) {
	small := r.ContentLength <= maxDrained
	if r.ContentLength < 0 { // net/http reads an announced body itself
		n, _ := io.CopyN(io.Discard, r.Body, maxDrained+1) // as in hearOut
		small = n <= maxDrained
	}
	if !small {
		w.Header().Set("Connection", "close")
	}
}
