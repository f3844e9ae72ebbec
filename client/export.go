package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/shoal-dev/shoal"
)

// Export writes the session to w as JSON lines, see docs/export.md. It has no time limit.
// After an error the export is incomplete; the last line of a complete one has the type
// "end". Export is not retried, because w may have received a part already. Admins only.
func (s *Session) Export(ctx context.Context, w io.Writer) error {
	const op = "client.Export"
	res, err := s.client.stream(ctx, http.MethodGet, s.path("export"), nil, nil)
	if err != nil {
		return named(op, err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return named(op, err)
	}
	return nil
}

// ImportOptions configure an import.
type ImportOptions struct {
	// Replace replaces a session that is not empty. Its keys stay.
	Replace bool
	// PausePlans pauses the plans, for a copy next to the original.
	PausePlans bool
}

// Import creates a session from an export, which may be of a session with another ID.
// The session becomes visible only after all of r has been read and validated; a
// failed import has no effect. The error is Conflict if the session exists and is not
// empty, unless Replace is set; AlreadyExists if the ID belonged to a deleted session;
// and InvalidArgument, with the line, if r is invalid. Import is not repeated. Admins
// only.
func (s *Session) Import(ctx context.Context, r io.Reader, o ImportOptions) (made shoal.Imported, err error) {
	const op = "client.Import"
	query := url.Values{}
	if o.Replace {
		query.Set("replace", "true")
	}
	if o.PausePlans {
		query.Set("pausePlans", "true")
	}
	res, err := s.client.stream(ctx, http.MethodPost, s.path("import"), query, r)
	if err != nil {
		return made, named(op, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(body, &made)
	}
	if err != nil {
		err = s.client.stranger(res.StatusCode, err)
	}
	return made, named(op, err)
}

// stream makes one call whose bodies may be of any length and take any time. The
// body of the answer, which is a good one, is the caller's to close.
func (c *Client) stream(ctx context.Context, method string, path []string, query url.Values, body io.Reader) (*http.Response, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	req, err := c.request(ctx, method, path, query)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", shoal.ExportType+", application/json")
	if body != nil {
		req.Body = io.NopCloser(body)
		req.ContentLength = -1
		req.Header.Set("Content-Type", shoal.ExportType)
	}
	res, err := c.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		var known *shoal.Error // of the body that could not be read
		if errors.As(err, &known) {
			return nil, known
		}
		return nil, c.unreachable(err)
	case res.StatusCode/100 != 2:
		defer res.Body.Close()
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return nil, c.stranger(res.StatusCode, err)
		}
		return nil, c.refusal(res.StatusCode, res.Header, text)
	}
	return res, nil
}
