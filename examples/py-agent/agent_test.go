// Package pyagent runs the example in Python with the real program.
package pyagent

import (
	"fmt"
	"os"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

var built *program.Shoal

func TestMain(m *testing.M) {
	code, err := program.WithShoal(func(b *program.Shoal) int { built = b; return m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestBooksAfterApproval(t *testing.T) {
	clienttest.Books(t, built, append(program.PythonClient(t), "agent.py")...)
}
