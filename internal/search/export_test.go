package search

// WordsOf returns the words of a text.
func WordsOf(text string) []string { return wordsOf(text) }
