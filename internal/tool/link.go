package tool

import (
	"errors"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
)

// place is a part of a URL; what is put in is escaped for where it stands.
type place uint8

const (
	head place = iota // scheme and host
	path
	query
	fragment
)

// escape is how a value is written at a place.
func (p place) escape(v string) string {
	if p == path {
		return url.PathEscape(v)
	}
	return url.QueryEscape(v)
}

// link is the URL of a request with variables in its path and query.
type link struct {
	t      template
	inPath bool // whether a variable stands in the path
}

// parseLink reads a URL and checks that its host is one, and not the model's to
// choose.
func (r *resolver) parseLink(text string) (*link, error) {
	const field = "execution.url"
	t, err := r.parse(field, text)
	if err != nil {
		return nil, err
	}
	l := &link{t: t}
	at := head
	for _, s := range t {
		if s.name != "" && at == head {
			return nil, shoal.Invalid(field, "has a variable where the host is; the host is the author's to choose")
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

// advance says at which place a URL is after text.
func advance(at place, text string) place {
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

var errPath = errors.New("the input makes the URL lead elsewhere: the path has the step . or .. in it")

// fill makes the URL of a call. Its error is for the model.
func (l *link) fill(vars variables) (*url.URL, error) {
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
		return nil, errors.New("the URL cannot be parsed") // the cause holds it, and maybe a secret
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
