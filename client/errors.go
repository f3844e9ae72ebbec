package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
)

// ErrUnreachable is the kind of the error if the server did not respond: the connection
// failed or broke, or the server sent nothing. Unless the connection failed, it is unknown
// whether the call took effect.
const ErrUnreachable shoal.Kind = "unreachable"

// errSilent ends a request that gets no data for too long.
var errSilent = errors.New("the server kept silent for too long")

// unreachable is the error of a call without a response.
func (c *Client) unreachable(cause error) *shoal.Error {
	why := cause
	var request *url.Error // which repeats the URL
	if errors.As(cause, &request) {
		why = request.Err
	}
	return &shoal.Error{Kind: ErrUnreachable, Msg: fmt.Sprintf("no server answers at %s (%v)", c.base, why), Err: cause}
}

// stranger returns the error for a response that does not come from a Shoal server.
func (c *Client) stranger(status int, cause error) *shoal.Error {
	return &shoal.Error{
		Kind: shoal.Internal, Msg: fmt.Sprintf("the server at %s (status %d) does not seem to be a Shoal server", c.base, status), Err: cause,
	}
}

// problem is the body of a refusal.
type problem struct {
	Title  string             `json:"title"`
	Detail string             `json:"detail"`
	Code   shoal.Kind         `json:"code"`
	Errors []shoal.FieldError `json:"errors"`
}

// apiHeader names the version of the API: that of the client in requests, the server's in responses.
const apiHeader = "X-Shoal-Api"

// unreadable returns the error for a successful response that does not have the form that this
// version of the client knows.
func (c *Client) unreadable(status int, header http.Header, cause error) *shoal.Error {
	if theirs := header.Get(apiHeader); theirs != "" && theirs != shoal.APIVersion {
		msg := fmt.Sprintf("the server at %s speaks version %s of the API, and this client, built for %s, cannot read its response; use the client of its version", c.base, theirs, shoal.APIVersion)
		return &shoal.Error{Kind: shoal.ClientTooOld, Msg: msg, Err: cause}
	}
	return c.stranger(status, cause)
}

// requestID is the header that identifies a request in the server's log.
const requestID = "X-Request-Id"

// refusal returns the error for a response other than 2xx. A proxy that cannot reach
// the server counts as an unreachable server.
func (c *Client) refusal(status int, header http.Header, body []byte) *shoal.Error {
	var p problem
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if media == "application/problem+json" || media == "application/json" {
		if err := json.Unmarshal(body, &p); err == nil && p.Code != "" {
			if p.Detail == "" {
				p.Detail = p.Title
			}
			return &shoal.Error{Kind: p.Code, Msg: p.Detail, Fields: p.Errors, RetryAfter: retryAfter(header), RequestID: header.Get(requestID)}
		}
	}
	told := fmt.Sprintf("%s answers %d %s", c.base, status, http.StatusText(status))
	switch status {
	case http.StatusUnauthorized:
		return shoal.E("", shoal.Unauthenticated, told)
	case http.StatusForbidden:
		return shoal.E("", shoal.Forbidden, told)
	case http.StatusTooManyRequests:
		return shoal.E("", shoal.RateLimited, told)
	case http.StatusServiceUnavailable:
		return shoal.E("", shoal.Busy, told)
	case http.StatusRequestEntityTooLarge:
		return shoal.E("", shoal.TooLarge, told)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return c.unreachable(errors.New(told))
	}
	return c.stranger(status, errors.New(told))
}

// retryAfter returns the delay that the server asks for, 0 for none.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// named adds the operation to an error of this package.
func named(op string, err error) error {
	var e *shoal.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &e) || e.Op != "" {
		return fmt.Errorf("%s: %w", op, err)
	}
	told := *e
	told.Op = op
	return &told
}
