package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Wire sends requests to one server over as many connections as necessary, and reuses them. It
// is safe for concurrent use.
type Wire struct {
	url  string
	http *http.Client
}

// NewWire returns a wire to the server at a URL.
func NewWire(url string) Wire {
	return Wire{strings.TrimSuffix(url, "/"), &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4096, DisableCompression: true,
	}}}
}

// RefusedError is an unsuccessful response.
type RefusedError struct {
	Call   string // method and path
	Status int
	Body   string
}

// Error returns the call and its response.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %d %s", e.Call, e.Status, e.Body) }

// Unwrap returns the error of the response if it is a problem in Shoal's format.
func (e *RefusedError) Unwrap() error {
	var problem struct {
		Code   shoal.Kind `json:"code"`
		Detail string     `json:"detail"`
	}
	if json.Unmarshal([]byte(e.Body), &problem) != nil || problem.Code == "" {
		return nil
	}
	return &shoal.Error{Kind: problem.Code, Msg: problem.Detail}
}

// Do makes a call and returns the body and the header of its response, and also a
// [RefusedError] if the response is not a success. Do takes ownership of header.
func (w Wire) Do(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, http.Header, error) {
	res, err := w.send(ctx, method, path, header, body)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read completely, or is not needed
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = &RefusedError{method + " " + path, res.StatusCode, string(answer)}
	}
	return answer, res.Header, err
}

// Open makes a GET request whose response is a stream, and returns the stream once it has
// started. The caller must close it; it also ends with ctx.
func (w Wire) Open(ctx context.Context, path string, header http.Header) (io.ReadCloser, error) {
	res, err := w.send(ctx, http.MethodGet, path, header, nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // the status is sufficient
	_ = res.Body.Close()
	return nil, &RefusedError{"GET " + path, res.StatusCode, string(answer)}
}

// Close closes the connections that are not in use.
func (w Wire) Close() { w.http.CloseIdleConnections() }

func (w Wire) send(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	return w.http.Do(req)
}

// Text returns a message of 256 bytes that starts with the current time.
func Text() string {
	b := bytes.Repeat([]byte{'x'}, 256)
	copy(b, fmt.Sprintf("%019d ", time.Now().UnixNano()))
	return string(b)
}

// Pause waits for d and reports whether ctx is still active.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
