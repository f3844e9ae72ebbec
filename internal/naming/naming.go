// Package naming decides which names mislead: those with characters that nobody sees,
// those that the server reserves, and those that read like another name.
//
//	if err := naming.Check("name", name); err != nil { … }
//	if naming.Key(name) == naming.Key(other) { … } // one can be taken for the other
//	for id, text := range naming.Shown(names) { … }
//
// It is about names that are given now. Names that are stored are shown so that they do
// not mislead, and never refused.
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

// reserved are the names that would speak for the server or address everybody.
var reserved = []string{SystemName, "shoal", "server", "admin", "administrator", string(shoal.Operator), "everyone", "here", "channel"}

// Check returns an error of kind InvalidArgument for a name with characters that are
// invisible or change the direction of text, a name without anything to see, and one
// that imitates the form in which [Shown] tells names apart. The empty name is fine.
func Check(field, name string) error {
	runes := []rune(name)
	visible := len(runes) == 0
	for i, r := range runes {
		if hidden(r) && !emojiJoint(runes, i) {
			return shoal.Invalid(field, fmt.Sprintf("must not contain %U, which is invisible or changes the direction of text", r))
		}
		visible = visible || !hidden(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
	}
	if !visible {
		return shoal.Invalid(field, "must have at least one visible character")
	}
	if imitatesShown(name) {
		return shoal.Invalid(field, `must not contain "(@", which marks the id of an entity`)
	}
	return nil
}

// CheckReserved is [Check], and refuses the names that the server reserves and those
// that can be taken for them.
func CheckReserved(field, name string) error {
	if err := Check(field, name); err != nil {
		return err
	}
	key := Key(name)
	for _, word := range reserved {
		if key == Key(word) {
			return shoal.Invalid(field, fmt.Sprintf("must not be %q: it reads like %q, which is reserved", name, word))
		}
	}
	return nil
}

func imitatesShown(name string) bool {
	return strings.Contains(strings.Join(strings.Fields(norm.NFKC.String(visible(name))), ""), "(@")
}

// hidden reports whether r has no glyph of its own: controls, format characters (with
// those that direct text), and what Unicode says to ignore.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == '\u2800' // the Braille pattern without dots
}

const (
	emojiStyle = '\ufe0f'
	joiner     = '\u200d'
)

// emojiJoint reports whether the hidden rune at i belongs to an emoji: it chooses the
// style of a symbol or joins two symbols into one.
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

func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, name)
}

// asciiKey is what [Key] makes of each ASCII character.
var asciiKey = func() (all [utf8.RuneSelf]string) {
	for b := range all {
		all[b] = keyOf(string(rune(b)))
	}
	return all
}()

// Key returns the same text for names that can be taken for one another: their
// skeletons of Unicode UTS #39, without regard to case, to width and style of letters,
// and to invisible characters and spaces around. Because case is ignored and a capital
// I is a small l to the eye, i and l count as the same letter. It is no text to show.
func Key(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return tidy(keyOf(name))
		}
		b.WriteString(asciiKey[name[i]])
	}
	return tidy(b.String())
}

// keyOf takes the skeleton twice: letters that look alike as capitals differ as small
// ones, and the other way round.
func keyOf(s string) string {
	s = strings.ToLower(confusable.Skeleton(norm.NFKC.String(spaced(visible(s)))))
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

func tidy(s string) string { return strings.TrimPrefix(strings.Join(strings.Fields(s), " "), "@") }

// Shown returns how to show entities that are shown together: by name, and as
// "Name (@id)" if the name can be taken for another one of them or for the server's, or
// is one that [Check] refuses. [shoal.System] is always shown by its name. names is not
// changed.
func Shown(names map[shoal.EntityID]string) map[shoal.EntityID]string {
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
	return strings.TrimSpace(fmt.Sprintf("%s (@%s)", strings.ReplaceAll(visible(name), "(@", "("), id))
}

// Members returns members with their names as [Shown] has them, in the same order.
func Members(members []shoal.Member) []shoal.Member {
	names := make(map[shoal.EntityID]string, len(members))
	for _, m := range members {
		names[m.EntityID] = m.Name
	}
	names = Shown(names)
	out := slices.Clone(members)
	for i := range out {
		out[i].Name = names[out[i].EntityID]
	}
	return out
}
