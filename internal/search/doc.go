// Package search is what a search means: its language, which words a text has,
// which messages a query holds for, what is shown of them, and which come first.
// It knows no database: a store uses it to fill an index and to check what the
// index proposes, so that every database finds the same.
//
//	query, err := search.Parse("query", `"final offer" from:ann -draft lap`)
//	m := search.NewMatcher(query)
//	if m.Holds(search.Document{Message: message, Kind: shoal.Agent}) { … }
//	piece, ranges := m.Highlight(message.Text())
//
// Guarantees:
//   - A word is a run of letters, digits and marks, in lower case and without
//     diacritics; ß counts as ss. There is no stemming, and no word is left out
//     for being frequent. In scripts without spaces between words (Han,
//     Hiragana, Katakana) each character is a word, and so is each emoji.
//   - What is written in one piece, such as foo_bar, a.b.c or a path, is found
//     where its words follow each other.
//   - Everything here is pure, takes any text, and takes time that grows with
//     the text alone.
package search
