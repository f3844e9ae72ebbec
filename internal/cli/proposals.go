package cli

import (
	"regexp"
	"strings"
)

var quoted = regexp.MustCompile(`"([^"]*)"`)

// splitProposals splits the end of a message of the parser, such as `--wiat, did you mean
// "--wait"?`, into the word that is wrong and what to write in its place. Any two words of two
// letters are alike to the parser, so proposals with another first letter are left out; the
// proposal is empty if none remains.
func splitProposals(message string) (word, proposal string) {
	word, alike, _ := strings.Cut(message, ", did you mean ")
	var meant []string
	for _, found := range quoted.FindAllStringSubmatch(alike, -1) {
		if firstLetter(found[1]) == firstLetter(word) {
			meant = append(meant, found[0])
		}
	}
	switch len(meant) {
	case 0:
		return word, ""
	case 1:
		return word, "did you mean " + meant[0] + "?"
	}
	return word, "did you mean one of " + strings.Join(meant, ", ") + "?"
}

// firstLetter returns the first byte of a command or of the name of a flag.
func firstLetter(word string) string {
	name := strings.TrimLeft(word, "-")
	return name[:min(1, len(name))]
}
