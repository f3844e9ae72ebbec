package release_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release that is signed with a key is verified with the command of
// docs/releasing.md; one that was changed, or signed by somebody else, is not.
func TestSignature(t *testing.T) {
	t.Parallel()
	signed, keys := secondBuild(t)
	out := t.TempDir()
	for _, name := range []string{"SHA256SUMS", "SHA256SUMS.sig"} {
		write(t, filepath.Join(out, name), read(t, filepath.Join(signed, name)), 0o644)
	}
	signers := filepath.Join(out, "signers")
	verify := func(key string) (string, int) {
		t.Helper()
		write(t, signers, `releases@shoal.dev namespaces="shoal-release" `+read(t, filepath.Join(keys, key+".pub")), 0o600)
		c := exec.CommandContext(bounded(t), "ssh-keygen", "-Y", "verify", "-f", signers, "-I", "releases@shoal.dev", "-n", "shoal-release", "-s", filepath.Join(out, "SHA256SUMS.sig"))
		c.Stdin = strings.NewReader(read(t, filepath.Join(out, "SHA256SUMS")))
		return ran(t, c)
	}
	if printed, code := verify("release"); code != 0 || !strings.Contains(printed, "Good") {
		t.Errorf("the signature is refused: %s", printed)
	}
	if printed, code := verify("other"); code == 0 {
		t.Errorf("the signature of another key is taken: %s", printed)
	}
	sums := filepath.Join(out, "SHA256SUMS")
	write(t, sums, strings.Replace(read(t, sums), "  install.sh", "  install.sh.", 1), 0o644)
	if printed, code := verify("release"); code == 0 {
		t.Errorf("changed checksums are taken: %s", printed)
	}
	if out, code := ran(t, releaseCommand(repository, out, "-sign", filepath.Join(keys, "missing"))); code != 1 || !strings.Contains(out, "missing") {
		t.Errorf("a key that is not there exits with %d: %s", code, out)
	}
}
