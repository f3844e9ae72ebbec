// Package search defines full-text search in messages: the query language, the words of a
// text, which messages match a query, the highlighted excerpt, and the ranking. It is
// independent of any database: a store uses it to fill an index and to check the candidates
// of the index, so that every database returns the same results.
//
//	query, err := search.Parse("query", `"final offer" from:ann -draft lap`)
//	m := search.NewMatcher(query)
//	if m.Holds(search.Document{Message: message, Kind: shoal.Agent}) { … }
//	piece, ranges := m.Highlight(message.Text())
//
// Guarantees:
//   - A word is a run of letters, digits and marks, in lower case and without
//     diacritics; ß counts as ss. There is no stemming, and no word is ignored
//     for being frequent. In scripts without spaces between words (Han,
//     Hiragana, Katakana) each character is a word, and so is each emoji.
//   - Text without spaces, such as foo_bar, a.b.c or a path, is found where its words
//     follow each other.
//   - All functions are pure and accept any text. Their running time depends on the
//     length of the text only.
package search
