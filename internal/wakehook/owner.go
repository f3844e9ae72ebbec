package wakehook

import (
	"os"
	"strconv"
)

// owner is the process of the coding agent that has started this hook.
type owner struct {
	pid    int
	parent int // the parent of this process, when it began; 0 if that is not the owner's
}

// findOwner returns the owner: the process that the environment names, else the parent. They differ if a
// shell is in between.
func findOwner(k kind, getenv func(string) string) owner {
	o := owner{pid: os.Getppid(), parent: os.Getppid()}
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 1 && k.name == "claude" {
		o.pid = pid
	}
	return o
}
