package tool

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// secrets are texts that must not appear in results and errors.
type secrets struct{ replace *strings.Replacer }

// shortSecret is the minimum length of a hidden secret: shorter texts would match everywhere.
const shortSecret = 4

const secretMark = "[secret]"

// newSecrets collects the values of the environment and the author's values of headers that
// carry credentials.
func newSecrets(values []string, headers map[string]string) secrets {
	all := slices.Clone(values)
	for name, value := range headers {
		if !isCredential(name) {
			continue
		}
		for _, p := range agentconfig.Split(value) {
			if p.Env == "" && !variablePattern.MatchString(p.Text) {
				word := strings.TrimSpace(p.Text)
				for _, scheme := range []string{"Bearer", "Basic", "Token"} {
					if first, rest, ok := strings.Cut(word+" ", " "); ok && strings.EqualFold(first, scheme) {
						word = strings.TrimSpace(rest)
					}
				}
				all = append(all, word)
			}
		}
	}
	var forms []string
	for _, v := range all {
		if len(v) >= shortSecret {
			quoted := string(mustEncode(v))
			forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), quoted[1:len(quoted)-1])
		}
	}
	// Longest first: a secret may start with another one.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, secretMark)
	}
	return secrets{strings.NewReplacer(pairs...)}
}

// isCredential reports whether the name of a header says that it carries a credential.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"authorization", "cookie", "token", "secret", "key", "password", "auth"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

func (s secrets) hide(text string) string { return s.replace.Replace(text) }

// hideAll hides the secrets in every text, name and number of a value.
func (s secrets) hideAll(v any) any {
	switch v := v.(type) {
	case string:
		return s.hide(v)
	case json.Number:
		if text := s.hide(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = s.hideAll(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[s.hide(name)] = s.hideAll(item)
		}
		return out
	}
	return v
}
