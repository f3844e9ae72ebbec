package agentconfig

import (
	"regexp"
	"slices"
	"strings"
)

var (
	envReference = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]{0,127})\}`)
	envBegin     = "${env."
)

// Protected says whether the variable is the server's own: its configuration and
// the keys of the model vendors. No configuration may refer to it.
func Protected(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "SHOAL_") || slices.Contains([]string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY",
	}, name)
}

// Piece is a part of a text: Text as it is, or the variable Env of the
// environment.
type Piece struct {
	Text string
	Env  string
}

// Split takes a text apart at its references to the environment. What is no whole
// reference is text.
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

// env checks the references of a text at a place where they are allowed.
func (c *check) env(text, path string) {
	for _, p := range Split(text) {
		switch {
		case p.Env == "":
			if strings.Contains(p.Text, envBegin) {
				c.wrong(path, "has a broken reference: write ${env.NAME}")
			}
		case Protected(p.Env):
			c.wrong(path, "refers to %s, which is the server's own and never for tools", p.Env)
		case !c.allowed(p.Env):
			c.wrong(path, "refers to %s, which the operator has not allowed for agent configs", p.Env)
		}
	}
}
