package process_test

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// A runner that is killed leaves nothing running.
func TestProcessEndsWithItsRunner(t *testing.T) {
	runner := exec.Command(os.Args[0])
	runner.Env = append(os.Environ(), asRunner+"=1")
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	child := number(t, bufio.NewReader(out))
	if !alive(child) {
		t.Fatalf("process %d does not run", child)
	}
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait() // it was killed
	untilDead(t, child)
}
