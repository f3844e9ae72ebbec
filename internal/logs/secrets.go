package logs

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// hidden stands where a secret was.
const hidden = "[hidden]"

// shortest is the length from which on a value is looked for in texts: a shorter
// one would be found in words that have nothing to do with it.
const shortest = 8

// Secrets are values that must not stand in a log. It is safe for concurrent use;
// a nil Secrets knows none.
type Secrets struct {
	mu     sync.RWMutex
	values []string // each also as it stands in a URL, if that differs
}

// Add makes values secret from now on. Empty ones and ones shorter than eight
// bytes are passed over.
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		s.values = append(s.values, v)
		for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v)} {
			if escaped != v {
				s.values = append(s.values, escaped)
			}
		}
	}
}

// telling reports whether the name of an attribute says that it is a secret. "key"
// alone does not: it is the id of a key.
func telling(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"secret", "password", "authorization", "cookie", "token", "apikey", "api_key", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// What secrets look like: the parts in groups stay.
var looks = []*regexp.Regexp{
	// Keys of Shoal, and those of browsers that have signed in.
	regexp.MustCompile(`\b(shoal(?:-console)?_)[A-Za-z0-9_-]{16,}`),
	// Whatever is sent as a credential.
	regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[^\s"',;]{6,}`),
	// A password in a URL, and the values of parameters that are one.
	regexp.MustCompile(`(://[^\s/:@]*:)[^\s/@]+(@)`),
	regexp.MustCompile(`(?i)([?&#;\s"](?:password|passwd|login|token|secret|key|api[_-]?key|access_token|code|signed)=)[^\s&"']+`),
	// Keys of model vendors and their like.
	regexp.MustCompile(`\b((?:sk|pk|rk|xox[abprs]|gh[opsu]|AIza)[-_]?)[A-Za-z0-9_-]{20,}`),
}

// random is how a word of 256 random bits may look: the code of a link, say.
var random = regexp.MustCompile(`[A-Za-z0-9_-]{43,}`)

// redact returns a text without secrets.
func (s *Secrets) redact(text string) string {
	if s != nil {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for _, v := range s.values {
			text = strings.ReplaceAll(text, v, hidden)
		}
	}
	for _, look := range looks {
		text = look.ReplaceAllString(text, "${1}"+hidden+"${2}")
	}
	return random.ReplaceAllStringFunc(text, func(word string) string {
		if mixed(word) {
			return hidden
		}
		return word
	})
}

// mixed reports whether a word has capitals, small letters and digits, as nearly
// every random one has and hardly one that is made of words.
func mixed(word string) bool {
	return strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") &&
		strings.ContainsAny(word, "0123456789")
}
