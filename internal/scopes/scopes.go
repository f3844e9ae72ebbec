// Package scopes says how far a key reaches: which acts, spaces and tools its scopes leave it of
// what its role allows. A scope never adds a right. The package is pure: the hub asks it about acts
// and spaces wherever it asks about roles, and internal/auth and internal/mcpapi about tools.
package scopes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Limits of scopes.
const (
	// MaxNames is how many ids one scope can list.
	MaxNames = 50
	spaces   = "spaces:"
	tools    = "tools:"
)

// words are the scopes that are groups of acts, in the order in which they are listed.
var words = []string{roles.ScopeRead, roles.ScopePost, roles.ScopeAnswer, roles.ScopeRun}

// Clean checks the scopes of a new key, and returns them in the order in which keys list them, each
// kind once: words, spaces, tools. It fails with InvalidArgument for the field scopes.
func Clean(list []string) ([]string, error) {
	var named, inSpaces, ofTools []string
	for i, s := range list {
		field := fmt.Sprintf("scopes[%d]", i)
		switch {
		case slices.Contains(words, s):
			named = append(named, s)
		case strings.HasPrefix(s, spaces):
			inSpaces = append(inSpaces, strings.Split(s[len(spaces):], ",")...)
		case strings.HasPrefix(s, tools):
			ofTools = append(ofTools, strings.Split(s[len(tools):], ",")...)
		default:
			return nil, shoal.Invalid(field, `must be "read", "post", "answer", "run", "spaces:ID,…" or "tools:NAME,…"`)
		}
		for _, id := range slices.Concat(inSpaces, ofTools) {
			if err := shoal.CheckID(field, id); err != nil {
				return nil, err
			}
		}
		if max(len(inSpaces), len(ofTools)) > MaxNames {
			return nil, shoal.Invalid(field, fmt.Sprintf("must list at most %d ids", MaxNames))
		}
	}
	out := []string{}
	for _, w := range words {
		if slices.Contains(named, w) {
			out = append(out, w)
		}
	}
	if len(inSpaces) > 0 {
		out = append(out, spaces+strings.Join(slices.Compact(slices.Sorted(slices.Values(inSpaces))), ","))
	}
	if len(ofTools) > 0 {
		out = append(out, tools+strings.Join(slices.Compact(slices.Sorted(slices.Values(ofTools))), ","))
	}
	return out, nil
}

// Text returns scopes as one text, which [shoal.Principal] and the database have.
func Text(list []string) string { return strings.Join(list, " ") }

// List is the inverse of [Text].
func List(of string) []string { return append([]string{}, strings.Fields(of)...) }

// Act checks that scopes leave an act. Scopes without a word leave the acts of all words; the other
// acts are those of keys without scopes. It fails with Forbidden, naming the scope that is missing.
func Act(of string, act roles.Act) error {
	if AllowAct(of, act) {
		return nil
	}
	if need := roles.ScopeOf(act); need != "" {
		return refused(of, fmt.Sprintf("to %s it needs the scope %q", act, need))
	}
	return refused(of, fmt.Sprintf("to %s takes a key without scopes", act))
}

// AllowAct reports whether [Act] succeeds.
func AllowAct(of string, act roles.Act) bool {
	if of == "" {
		return true
	}
	need := roles.ScopeOf(act)
	if need == "" {
		return false
	}
	some := false
	for s := range strings.FieldsSeq(of) {
		if s == need {
			return true
		}
		some = some || slices.Contains(words, s)
	}
	return !some
}

// Can reports whether the role of a caller and the scopes of its key allow an act in some space.
func Can(p shoal.Principal, act roles.Act) bool {
	return roles.May(p, act) && AllowAct(p.Scopes, act)
}

// Spaces returns the spaces to which scopes limit a key; limited is false if they do not.
func Spaces(of string) (ids []shoal.SpaceID, limited bool) {
	listed, limited := names(of, spaces)
	for id := range strings.SplitSeq(listed, ",") {
		if id != "" {
			ids = append(ids, shoal.SpaceID(id))
		}
	}
	return ids, limited
}

// AllowSpace reports whether scopes leave a space. An empty id means what is in none, which
// only scopes that do not limit a key to spaces leave.
func AllowSpace(of string, space shoal.SpaceID) bool {
	listed, limited := names(of, spaces)
	return !limited || contains(listed, string(space))
}

// Space checks that scopes leave a space, whether or not it exists. It fails with Forbidden, naming
// the scope that is missing.
func Space(of string, space shoal.SpaceID) error {
	if AllowSpace(of, space) {
		return nil
	}
	return refused(of, fmt.Sprintf("for the space %q it needs the scope %q", space, spaces+string(space)))
}

// Session checks that scopes limit a key to no spaces, for calls that are about more than one space.
// It fails with Forbidden.
func Session(of string) error {
	if _, limited := names(of, spaces); !limited {
		return nil
	}
	return refused(of, "this call is about the whole session: name one of these spaces in it, or use a key without a scope spaces:…")
}

// One returns the space that a call is about which can name one: the named one, or the only one that
// the scopes leave. It is empty if the call names none and the scopes limit the key to none. One fails
// as [Space] and [Session] do.
func One(of string, named shoal.SpaceID) (shoal.SpaceID, error) {
	only, limited := Spaces(of)
	switch {
	case !limited:
		return named, nil
	case named != "":
		return named, Space(of, named)
	case len(only) == 1:
		return only[0], nil
	}
	return "", Session(of)
}

// Tool checks that scopes leave a tool of MCP. It fails with Forbidden, naming the scope that is
// missing. An empty name is anything else than a tool.
func Tool(of, name string) error {
	listed, limited := names(of, tools)
	switch {
	case !limited || name != "" && contains(listed, name):
		return nil
	case name == "":
		return refused(of, "it only calls these tools over MCP; anything else takes a key without a scope tools:…")
	}
	return refused(of, fmt.Sprintf("for the tool %q it needs the scope %q", name, tools+name))
}

// names returns the list of a scope with a prefix, and whether there is such a scope.
func names(of, prefix string) (list string, is bool) {
	if of == "" {
		return "", false
	}
	for s := range strings.FieldsSeq(of) {
		if strings.HasPrefix(s, prefix) {
			return s[len(prefix):], true
		}
	}
	return "", false
}

func contains(list, name string) bool {
	for s := range strings.SplitSeq(list, ",") {
		if s == name && s != "" {
			return true
		}
	}
	return false
}

func refused(of, why string) error {
	var quoted []string
	for s := range strings.FieldsSeq(of) {
		quoted = append(quoted, strconv.Quote(s))
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("This key has the scopes %s: %s.", strings.Join(quoted, ", "), why))
}

// Describe returns the description of a caller for itself. Its acts are those that its role and its
// scopes allow, in the order of the table of roles; those of an admin are all, also while it acts as
// somebody.
func Describe(p shoal.Principal) shoal.Caller {
	out := shoal.Caller{
		KeyID: p.KeyID, Role: p.Role, SessionID: idOrNil(p.SessionID), EntityID: idOrNil(p.EntityID), SignInID: idOrNil(p.SignIn),
		Scopes: List(p.Scopes), Acts: []string{},
	}
	for _, act := range roles.Acts() {
		if Can(p, act) {
			out.Acts = append(out.Acts, string(act))
		}
	}
	return out
}

func idOrNil[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}
