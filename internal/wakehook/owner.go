package wakehook

import (
	"os"
	"strconv"
)

// owner is the process of the coding agent that has started this hook.
type owner struct {
	pid    int
	parent int // the parent of this process, when it began
}

// findOwner returns the owner: the process that the environment names, else the parent. They differ if a
// shell is in between.
func findOwner(getenv func(string) string) owner {
	o := owner{pid: os.Getppid(), parent: os.Getppid()}
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 1 {
		o.pid = pid
	}
	return o
}
