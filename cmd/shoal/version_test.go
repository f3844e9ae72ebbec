package main

import (
	"os/exec"
	"testing"
)

// Flags before the command make the program build the grammar of all commands. The shorter
// way, without it, prints the same.
func TestVersionIsTheSameWithItsOwnGrammar(t *testing.T) {
	for _, flags := range [][]string{{}, {"--json"}, {"--help"}, {"surplus"}, {"--unknown"}, {"--config", "missing.yaml"}} {
		own := exec.CommandContext(t.Context(), "shoal", append([]string{"version"}, flags...)...)
		all := exec.CommandContext(t.Context(), "shoal", append([]string{"--session=default", "version"}, flags...)...)
		got, _ := own.CombinedOutput()
		want, _ := all.CombinedOutput()
		if string(got) != string(want) || own.ProcessState.ExitCode() != all.ProcessState.ExitCode() || len(got) == 0 {
			t.Errorf("shoal version %q ends with %d and prints\n%s\nwith the grammar of all commands it ends with %d and prints\n%s",
				flags, own.ProcessState.ExitCode(), got, all.ProcessState.ExitCode(), want)
		}
	}
}
