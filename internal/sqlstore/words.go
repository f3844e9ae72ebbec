package sqlstore

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is how many bytes of a word count.
const longestWord = 128

// words calls yield with each word of a text, as both the index and a query see
// it, until yield returns false. A word is a run of letters, digits and marks,
// in lower case and without diacritics. In scripts without spaces between words
// (Han, Hiragana, Katakana) each character is one. The databases get nothing
// but these words, so that both find the same.
func words(text string, yield func(word []byte) bool) {
	if !ascii(text) {
		text = norm.NFKD.String(text)
	}
	word := make([]byte, 0, longestWord+utf8.UTFMax)
	for _, r := range text {
		single := r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if len(word) > 0 && (single || !inWord(r)) {
			if !yield(word) {
				return
			}
			word = word[:0]
		}
		switch {
		case single:
			if !yield(utf8.AppendRune(word, r)) {
				return
			}
		case inWord(r) && len(word) < longestWord && !unicode.Is(unicode.Mn, r):
			word = utf8.AppendRune(word, unicode.ToLower(r))
		}
	}
	if len(word) > 0 {
		yield(word)
	}
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
