// Package naming detects misleading names: names with invisible characters, names that the
// server reserves, and names that can be mistaken for another name.
//
//	if err := naming.Check("name", name); err != nil { … }
//	if naming.Key(name) == naming.Key(other) { … } // the names can be confused
//	for id, text := range naming.Shown(names) { … }
//
// The checks apply to new names. Stored names are never rejected; they are shown in a form
// that does not mislead.
package naming

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"

	"github.com/shoal-dev/shoal"
)

// SystemName is the name of the server itself as a sender.
const SystemName = "System"

// reserved are the names that would impersonate the server or address everybody.
var reserved = []string{SystemName, "shoal", "server", "admin", "administrator", string(shoal.Operator), "everyone", "here", "channel"}

// Check returns an error of kind InvalidArgument for a name with characters that are
// invisible or change the direction of text, a name without visible characters, and a name
// that imitates the disambiguated form of [DisplayNames]. The empty name is valid.
func Check(field, name string) error {
	runes := []rune(name)
	visible := len(runes) == 0
	for i, r := range runes {
		if isInvisible(r) && !emojiJoint(runes, i) {
			return shoal.Invalid(field, fmt.Sprintf("must not contain %U, which is invisible or changes the direction of text", r))
		}
		visible = visible || !isInvisible(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
	}
	if !visible {
		return shoal.Invalid(field, "must have at least one visible character")
	}
	if imitatesShown(name) {
		return shoal.Invalid(field, `must not contain "(@", which marks the id of an entity`)
	}
	return nil
}

// CheckReserved does the same as [Check], and also rejects reserved names and names that can
// be confused with them.
func CheckReserved(field, name string) error {
	if err := Check(field, name); err != nil {
		return err
	}
	key := Key(name)
	for _, word := range reserved {
		if key == Key(word) {
			return shoal.Invalid(field, fmt.Sprintf("must not be %q: it can be confused with %q, which is reserved", name, word))
		}
	}
	return nil
}

func imitatesShown(name string) bool {
	return strings.Contains(strings.Join(strings.Fields(norm.NFKC.String(removeInvisible(name))), ""), "(@")
}

// isInvisible reports whether r has no glyph of its own: control characters, format characters
// (including those for text direction), and characters that Unicode declares ignorable.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == '\u2800' // the Braille pattern without dots
}

const (
	emojiStyle = '\ufe0f'
	joiner     = '\u200d'
)

// emojiJoint reports whether the hidden rune at i belongs to an emoji: it selects the style
// of a symbol or joins two symbols into one.
func emojiJoint(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before := runes[i-1]
	switch runes[i] {
	case emojiStyle:
		return unicode.In(before, unicode.So, unicode.Sm)
	case joiner:
		return (unicode.In(before, unicode.So, unicode.Sk) || before == emojiStyle) && i+1 < len(runes) && unicode.Is(unicode.So, runes[i+1])
	}
	return false
}

func removeInvisible(name string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, name)
}

// asciiKey is the key of each ASCII character.
var asciiKey = func() (all [utf8.RuneSelf]string) {
	for b := range all {
		all[b] = keyOf(string(rune(b)))
	}
	return all
}()

// Key returns the same text for names that can be confused: their skeletons of Unicode UTS
// #39, ignoring case, width and style of letters, invisible characters and surrounding
// spaces. Because case is ignored and a capital I looks like a small l, i and l count as the
// same letter. The key is not meant to be shown.
func Key(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return normalizeSpaces(keyOf(name))
		}
		b.WriteString(asciiKey[name[i]])
	}
	return normalizeSpaces(b.String())
}

// keyOf computes the skeleton twice: letters that look alike as capitals differ in lower
// case, and the reverse.
func keyOf(s string) string {
	s = strings.ToLower(confusable.Skeleton(norm.NFKC.String(spaced(removeInvisible(s)))))
	return strings.ReplaceAll(strings.ToLower(confusable.Skeleton(s)), "i", "l")
}

func spaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}

func normalizeSpaces(s string) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(s), " "), "@")
}

// DisplayNames returns the display names of entities that are shown together: the name, or "Name
// (@id)" if the name can be confused with another one of them or the server's, or if [Check]
// rejects it. [shoal.System] is always shown by its name. Shown does not modify names.
func DisplayNames(names map[shoal.EntityID]string) map[shoal.EntityID]string {
	keys := make(map[string]int, len(names)+1)
	keys[Key(SystemName)]++
	for id, name := range names {
		if id != shoal.System {
			keys[Key(name)]++
		}
	}
	out := make(map[shoal.EntityID]string, len(names))
	for id, name := range names {
		out[id] = name
		if id != shoal.System && (keys[Key(name)] > 1 || Check("name", name) != nil) {
			out[id] = withID(id, name)
		}
	}
	return out
}

func withID(id shoal.EntityID, name string) string {
	return strings.TrimSpace(fmt.Sprintf("%s (@%s)", strings.ReplaceAll(removeInvisible(name), "(@", "("), id))
}

// DisplayMembers returns members with the display names of [DisplayNames], in the same order.
func DisplayMembers(members []shoal.Member) []shoal.Member {
	names := make(map[shoal.EntityID]string, len(members))
	for _, m := range members {
		names[m.EntityID] = m.Name
	}
	names = DisplayNames(names)
	out := slices.Clone(members)
	for i := range out {
		out[i].Name = names[out[i].EntityID]
	}
	return out
}
