package guard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
)

// UploadTime is how long the body of an upload may take to arrive.
const UploadTime = 2 * time.Minute

// uploadLimit returns how many bytes an upload may have, 0 for a request that is
// none.
func (g *Guard) uploadLimit(r *http.Request, mcp bool) int64 {
	if g.upload == nil || mcp || !hasBody(r) {
		return 0
	}
	return g.upload(r)
}

// checkUpload refuses an upload that can be refused by its header.
func checkUpload(w http.ResponseWriter, r *http.Request, limit int64) *shoal.Error {
	if r.ContentLength > limit {
		return tooLarge("guard.checkUpload", limit)
	}
	return checkCoding(w, r)
}

// passOn serves an upload, whose body next reads as it arrives. What next leaves
// of it is heard out, so that the sender reads the answer.
func passOn(w http.ResponseWriter, r *http.Request, limit int64, next http.Handler) {
	setReadDeadline(w, time.Now().Add(UploadTime))
	body := &uploadBody{ReadCloser: r.Body, w: w, limit: limit, left: limit}
	passed := *r
	passed.Body = body
	next.ServeHTTP(w, &passed)
	if !body.ended {
		hearOut(r)
	}
}

// uploadBody is the body of an upload on its way.
type uploadBody struct {
	io.ReadCloser
	w           http.ResponseWriter
	limit, left int64
	ended       bool
}

// Read reads at most one byte more than the limit, to see that there is one.
func (b *uploadBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge("guard.upload", b.limit)
	}
	if err == io.EOF {
		b.ended = true
		setReadDeadline(b.w, time.Time{})
		return n, err
	}
	if err != nil {
		return n, cutShort("guard.upload", err, UploadTime)
	}
	return n, nil
}

func tooLarge(op string, limit int64) *shoal.Error {
	return shoal.E(op, shoal.TooLarge, fmt.Sprintf("The body has more than the %d bytes that are allowed here. Send less at once.", limit))
}

// cutShort says why a body did not arrive.
func cutShort(op string, err error, limit time.Duration) *shoal.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &shoal.Error{
			Op: op, Kind: shoal.InvalidJSON, Err: err,
			Msg: fmt.Sprintf("The body did not arrive whole within %v. Send it faster, or less at once.", limit),
		}
	}
	return &shoal.Error{Op: op, Kind: shoal.InvalidJSON, Err: err, Msg: "The body ended before it was whole. Send it again."}
}
