package logs

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// hidden replaces a secret.
const hidden = "[hidden]"

// shortest is the minimum length of a value that is searched for in texts: a shorter one
// would match unrelated words.
const shortest = 8

// Secrets are values that must not appear in a log. It is safe for concurrent use; a nil
// Secrets is empty.
type Secrets struct {
	mu     sync.RWMutex
	values []string // each also in its URL encoding, if that differs
}

// Add adds values. It ignores values shorter than eight bytes.
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

// isSecretName reports whether the name of an attribute says that it is a secret. "key" does not:
// it is the id of a key.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"secret", "password", "authorization", "cookie", "token", "apikey", "api_key", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// looks are patterns of secrets. The text of the groups is kept.
var looks = []*regexp.Regexp{
	// Keys of Shoal, and of browsers that are signed in.
	regexp.MustCompile(`\b(shoal(?:-console)?_)[A-Za-z0-9_-]{16,}`),
	// Credentials of the Authorization header.
	regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[^\s"',;]{6,}`),
	// Passwords in URLs, and parameters with secret values.
	regexp.MustCompile(`(://[^\s/:@]*:)[^\s/@]+(@)`),
	regexp.MustCompile(`(?i)([?&#;\s"](?:password|passwd|login|token|secret|key|api[_-]?key|access_token|code|signed)=)[^\s&"']+`),
	// Keys of model vendors and similar services.
	regexp.MustCompile(`\b((?:sk|pk|rk|xox[abprs]|gh[opsu]|AIza)[-_]?)[A-Za-z0-9_-]{20,}`),
}

// random matches a word of 256 random bits, such as the code of a link.
var random = regexp.MustCompile(`[A-Za-z0-9_-]{43,}`)

// redact returns the text without secrets.
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

// mixed reports whether a word has capitals, small letters and digits. Nearly every random
// word does, and hardly any word of a language.
func mixed(word string) bool {
	return strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") &&
		strings.ContainsAny(word, "0123456789")
}
