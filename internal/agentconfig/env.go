package agentconfig

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/modelenv"
)

var (
	envReference = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]{0,127})\}`)
	envBegin     = "${env."
)

// IsProtected reports whether the variable belongs to the server itself: its configuration and
// the keys of the model vendors. A configuration must not refer to it.
func IsProtected(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "SHOAL_") || slices.Contains(modelenv.Secrets(), name)
}

// Piece is a part of a text: either literal Text, or the environment variable Env.
type Piece struct {
	Text string
	Env  string
}

// Split splits a text at its references to the environment. Incomplete references are text.
func Split(text string) []Piece {
	var pieces []Piece
	end := 0
	for _, at := range envReference.FindAllStringSubmatchIndex(text, -1) {
		if at[0] > end {
			pieces = append(pieces, Piece{Text: text[end:at[0]]})
		}
		pieces = append(pieces, Piece{Env: text[at[2]:at[3]]})
		end = at[1]
	}
	if end < len(text) {
		pieces = append(pieces, Piece{Text: text[end:]})
	}
	return pieces
}

// checkEnv checks the references of a text in a place that permits them.
func (c *check) checkEnv(text, path string) {
	for _, p := range Split(text) {
		switch {
		case p.Env == "":
			if strings.Contains(p.Text, envBegin) {
				c.addProblem(path, "has a broken reference: write ${env.NAME}")
			}
		case IsProtected(p.Env):
			c.addProblem(path, "refers to %s, which belongs to the server itself and is not available to tools", p.Env)
		case !c.allowed(p.Env):
			c.addProblem(path, "refers to %s, which the operator does not permit in agent configs", p.Env)
		}
	}
}
