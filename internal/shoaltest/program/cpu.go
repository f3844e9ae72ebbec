package program

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// WaitedForCPU returns how long the threads of a process were ready and did not run, because
// the machine has other work. Tests subtract it from times that a promise limits. It is 0
// where the system does not count it.
func WaitedForCPU(process *os.Process) (waited time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process.Pid)) // the pattern is valid
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		var ran, ready int64
		if _, err := fmt.Sscan(string(text), &ran, &ready); err == nil {
			waited += time.Duration(ready)
		}
	}
	return waited
}
