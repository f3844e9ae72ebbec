package process_test

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// A runner that is killed leaves nothing running, also not what its programs have started.
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
	in := bufio.NewReader(out)
	program, child := number(t, in), number(t, in)
	if !alive(program) || !alive(child) {
		t.Fatalf("process %d and its child %d do not run", program, child)
	}
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait() // it was killed
	untilDead(t, program)
	untilDead(t, child)
}
