package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is the number of significant bytes of a word.
const longestWord = 128

// Words calls yield with each word of a text until yield returns false. An index and a query
// see the same words. The word occupies the bytes from:to of the text; the slice is valid
// until yield returns.
func Words(text string, yield func(word []byte, from, to int) bool) {
	w := wordReader{word: make([]byte, 0, longestWord+2*utf8.UTFMax), yield: yield}
	if isASCII(text) {
		for i := range len(text) {
			if w.addRune(rune(text[i]), i, i+1); w.stopped {
				return
			}
		}
		w.endWord()
		return
	}
	var it norm.Iter
	it.InitString(norm.NFKD, text)
	for !it.Done() {
		from := it.Pos()
		piece := it.Next()
		to := it.Pos()
		if to <= from { // a character that is decomposed into several runes
			_, size := utf8.DecodeRuneInString(text[from:])
			to = from + size
		}
		for len(piece) > 0 {
			r, size := utf8.DecodeRune(piece)
			piece = piece[size:]
			if w.addRune(r, from, to); w.stopped {
				return
			}
		}
	}
	w.endWord()
}

// wordReader collects the runes of a text into words.
type wordReader struct {
	word     []byte
	from, to int
	yield    func(word []byte, from, to int) bool
	stopped  bool
}

// addRune adds a rune that results from the bytes from:to of the text.
func (w *wordReader) addRune(r rune, from, to int) {
	single := r >= utf8.RuneSelf && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || unicode.Is(unicode.So, r))
	if single || !isWordRune(r) {
		w.endWord()
	}
	switch {
	case w.stopped:
	case single:
		w.word, w.from, w.to = utf8.AppendRune(w.word, r), from, to
		w.endWord()
	case isWordRune(r):
		if len(w.word) == 0 && unicode.Is(unicode.Mn, r) {
			return // a mark without a base character
		}
		if len(w.word) == 0 {
			w.from = from
		}
		w.to = to
		w.appendRune(r)
	}
}

func (w *wordReader) appendRune(r rune) {
	switch {
	case len(w.word) >= longestWord || unicode.Is(unicode.Mn, r):
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		w.word = append(w.word, byte(r))
	case r == 'ß' || r == 'ẞ':
		w.word = append(w.word, "ss"...)
	case r == 'ς':
		w.word = utf8.AppendRune(w.word, 'σ')
	default:
		w.word = utf8.AppendRune(w.word, unicode.ToLower(r))
	}
}

// endWord yields the collected word, if there is one.
func (w *wordReader) endWord() {
	if len(w.word) > 0 && !w.stopped {
		w.stopped = !w.yield(w.word, w.from, w.to)
	}
	w.word = w.word[:0]
}

// wordsOf returns the words of a text.
func wordsOf(text string) (all []string) {
	Words(text, func(word []byte, _, _ int) bool {
		all = append(all, string(word))
		return true
	})
	return all
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
