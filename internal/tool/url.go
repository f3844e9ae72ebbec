package tool

import (
	"errors"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
)

// urlPart is a part of a URL; it determines how values are escaped.
type urlPart uint8

const (
	head urlPart = iota // scheme and host
	path
	query
	fragment
)

// escape returns a value in the form for its place.
func (p urlPart) escape(v string) string {
	if p == path {
		return url.PathEscape(v)
	}
	return url.QueryEscape(v)
}

// urlTemplate is the URL of a request with variables in its path and query.
type urlTemplate struct {
	t      template
	inPath bool // whether the path contains a variable
}

// parseLink parses a URL. The host must be valid and must not contain a variable, so that
// the model cannot choose it.
func (r *resolver) parseLink(text string) (*urlTemplate, error) {
	const field = "execution.url"
	t, err := r.parse(field, text)
	if err != nil {
		return nil, err
	}
	l := &urlTemplate{t: t}
	at := head
	for _, s := range t {
		if s.name != "" && at == head {
			return nil, shoal.Invalid(field, "must not have a variable in the host")
		}
		l.inPath = l.inPath || (s.name != "" && at == path)
		if s.name == "" && (!s.env || at == head) {
			at = advance(at, s.text)
		}
	}
	u, err := l.fill(nil)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil {
		return nil, shoal.Invalid(field, "must be an http or https URL without a user name")
	}
	return l, nil
}

// advance returns the place of a URL after text.
func advance(at urlPart, text string) urlPart {
	if at == head {
		rest := text
		if scheme, after, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(scheme, "/?#") {
			rest = after
		}
		i := strings.IndexAny(rest, "/?#")
		if i < 0 {
			return head
		}
		at, text = path, rest[i:]
	}
	if at == path && strings.Contains(text, "?") {
		_, text, _ = strings.Cut(text, "?")
		at = query
	}
	if strings.Contains(text, "#") {
		at = fragment
	}
	return at
}

var errPath = errors.New("the input changes the path of the URL: the path must not contain . or .. as a segment")

// fill returns the URL of a call. The error is for the model.
func (l *urlTemplate) fill(vars variables) (*url.URL, error) {
	var b strings.Builder
	at := head
	for _, s := range l.t {
		switch {
		case s.name != "":
			b.WriteString(at.escape(vars.text(s)))
		case s.env && at != head:
			b.WriteString(at.escape(s.text))
		default:
			b.WriteString(s.text)
			at = advance(at, s.text)
		}
	}
	u, err := url.Parse(b.String())
	if err != nil {
		return nil, errors.New("the URL cannot be parsed") // the cause contains the URL, and possibly a secret
	}
	if l.inPath {
		for part := range strings.SplitSeq(u.EscapedPath(), "/") {
			if plain, err := url.PathUnescape(part); err != nil || plain == "." || plain == ".." {
				return nil, errPath
			}
		}
	}
	return u, nil
}
