package tool

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

const (
	// maxPacked limits the bytes that are read of a compressed response, independently of its decompressed size.
	maxPacked = 4 << 20
	cutMark   = "… [cut: the response is larger than 256 KiB]"
)

var errTimeout = errors.New("the server did not answer in time")

// result is the result of a response for the model.
type result struct {
	Success bool              `json:"success"`
	Status  int               `json:"status"`
	Data    any               `json:"data"`
	Headers map[string]string `json:"headers"`
	Error   string            `json:"error,omitempty"`
}

// failure returns the output of a request without a response.
func (r *request) failure(why string) agent.Output {
	out, err := outputOf(result{Headers: map[string]string{}, Error: r.secrets.hide(why)})
	if err != nil {
		out.Text = "Error: " + r.secrets.hide(why)
	}
	out.Failed = true
	return out
}

// reason describes to the model why there is no response. It contains nothing of the
// request: an error of the HTTP client contains the URL.
func (r *request) reason(err error) string {
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var missing *net.DNSError
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%v (%v)", errTimeout, r.timeout)
	case errors.As(err, &missing):
		return "the host of the URL cannot be found"
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "the server's certificate is not trusted"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server's response is incomplete"
	}
	return "the server could not be reached or closed the connection"
}

// read converts a response into an output: at most MaxResult bytes, secrets hidden.
func (r *request) read(resp *http.Response) (agent.Output, error) {
	raw, cut, err := readBody(resp)
	if err != nil {
		return agent.Output{}, err
	}
	out := result{
		Success: resp.StatusCode >= 200 && resp.StatusCode <= 299, Status: resp.StatusCode,
		Headers: map[string]string{},
	}
	for name, values := range resp.Header {
		if name != "Set-Cookie" {
			out.Headers[strings.ToLower(name)] = r.secrets.hide(strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd"))
		}
	}
	if !cut && formatOf(resp.Header.Get("Content-Type")) == jsonForm {
		if value, err := decode(raw); err == nil {
			out.Data = r.secrets.hideAll(value)
			if text, err := encode(out); err == nil && len(text) <= MaxResult {
				return agent.Output{Text: text}, nil
			}
		}
	}
	return out.withText(r.secrets.hide(textOf(raw, resp.Header.Get("Content-Type"))), cut)
}

// readBody reads at most MaxResult bytes of the decompressed response.
func readBody(resp *http.Response) (raw []byte, cut bool, err error) {
	var from io.Reader = resp.Body
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		packed := &io.LimitedReader{R: resp.Body, N: maxPacked}
		unpacked, err := gzip.NewReader(packed)
		if errors.Is(err, io.EOF) {
			return nil, false, nil // an empty body, as in answers without content
		}
		if err != nil {
			return nil, false, err
		}
		from = unpacked
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		raw, err = io.ReadAll(io.LimitReader(from, MaxResult+1))
		if packed.N == 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return raw[:min(len(raw), MaxResult)], true, nil
		}
		return raw[:min(len(raw), MaxResult)], len(raw) > MaxResult, err
	}
	raw, err = io.ReadAll(io.LimitReader(from, MaxResult+1))
	return raw[:min(len(raw), MaxResult)], len(raw) > MaxResult, err
}

// textOf renders bytes for a model.
func textOf(raw []byte, contentType string) string {
	kind, _, _ := mime.ParseMediaType(contentType) // an invalid type counts as missing
	textual := kind == "" || strings.HasPrefix(kind, "text/") || formatOf(kind) != plain ||
		kind == "application/javascript" || kind == "application/yaml"
	if !textual && !utf8.Valid(raw[:max(0, len(raw)-utf8.UTFMax)]) {
		return fmt.Sprintf("[%d bytes of %s, not text]", len(raw), kind)
	}
	return strings.ToValidUTF8(string(raw), "\ufffd")
}

// withText returns an output with as much of a text as fits.
func (out result) withText(text string, cut bool) (agent.Output, error) {
	out.Data = ""
	rest, err := encode(out)
	if err != nil {
		return agent.Output{}, err
	}
	room := MaxResult - len(rest) - len(cutMark)
	for i, letter := range text {
		if room -= jsonSize(letter); room < 0 {
			text, cut = text[:i], true
			break
		}
	}
	if cut {
		text += cutMark
	}
	out.Data = text
	return outputOf(out)
}
