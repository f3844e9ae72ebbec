package release_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// signingPassword protects the keys of the tests.
const signingPassword = "a password of a test"

// newSigningKey writes a new secret key of minisign to file, protected by
// signingPassword, and its public key to file.pub.
func newSigningKey(t *testing.T, file string) {
	t.Helper()
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := minisign.EncryptKey(signingPassword, secret)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(encrypted), 0o600)
	write(t, file+".pub", public.String(), 0o600)
}

// A signed release verifies with the public key of its signer; one that was changed, or
// signed with another key, does not. `shoal upgrade` verifies it in the same way.
func TestSignature(t *testing.T) {
	t.Parallel()
	signed, keys := secondBuild(t)
	sums, signature := read(t, filepath.Join(signed, "SHA256SUMS")), read(t, filepath.Join(signed, "SHA256SUMS.minisig"))
	isSignedBy := func(key, sums string) bool {
		t.Helper()
		var public minisign.PublicKey
		if err := public.UnmarshalText([]byte(read(t, filepath.Join(keys, key+".pub")))); err != nil {
			t.Fatal(err)
		}
		return minisign.Verify(public, []byte(sums), []byte(signature))
	}
	if !isSignedBy("release", sums) {
		t.Errorf("the signature does not verify:\n%s", signature)
	}
	if isSignedBy("other", sums) {
		t.Error("the signature verifies with the key of somebody else")
	}
	if isSignedBy("release", strings.Replace(sums, "  install.sh", "  install.sh.", 1)) {
		t.Error("the signature verifies for changed checksums")
	}
	for key, want := range map[string]string{"missing": "missing", "release": "SHOAL_SIGNING_PASSWORD is wrong"} {
		if out, code := ran(t, releaseCommand(repository, t.TempDir(), "-sign", filepath.Join(keys, key))); code != 1 || !strings.Contains(out, want) {
			t.Errorf("the key %q without a password: got exit code %d and %q, want 1 and %q", key, code, out, want)
		}
	}
}
