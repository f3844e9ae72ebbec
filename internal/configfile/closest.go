package configfile

import "strings"

// Closest returns the word that is most similar to word and was probably meant, or "" if no
// word is similar enough.
func Closest(word string, words []string) string {
	plain := strings.NewReplacer("-", "", "_", "")
	word = plain.Replace(strings.ToLower(word))
	best, fewest := "", 1+len(word)/3
	for _, w := range words {
		if changes := distance(word, plain.Replace(w)); changes < fewest {
			best, fewest = w, changes
		}
	}
	return best
}

// distance returns the number of letters to add, remove or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
