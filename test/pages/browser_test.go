package pages

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// browserTime bounds what Chromium does.
const browserTime = 2 * time.Minute

// browse opens a link that signs in with Chromium, for which the public name leads to the site, and uses
// the console.
func browse(t *testing.T, s *site, link string) {
	t.Helper()
	program.Installed(t, "test/console/node_modules/playwright-core/package.json")
	chromium, err := program.Browser()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(s.trusted)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	// Chromium has its own list of authorities; this makes it accept one more public key.
	accepted := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	ctx, cancel := context.WithTimeout(t.Context(), browserTime)
	defer cancel()
	node := exec.CommandContext(ctx, program.Node(t), "testdata/console.mjs", link)
	node.Env = append(os.Environ(), "CHROMIUM="+chromium, "SITE="+s.addr, "ACCEPTED="+base64.StdEncoding.EncodeToString(accepted[:]))
	node.WaitDelay = 10 * time.Second
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
