// Package typescript_test checks that the TypeScript client, built as it is published, works with a
// real server.
package typescript_test

import (
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

func TestClient(t *testing.T) {
	driver := program.TypeScript(t, "driver.ts")
	t.Run("of the server's version", func(t *testing.T) {
		clienttest.Run(t, "node", driver)
		clienttest.Tools(t, "node", driver)
	})
	t.Run("of other versions", func(t *testing.T) {
		clienttest.Skew(t, filepath.Join(filepath.Dir(driver), "node_modules/@shoal-dev/client/dist/version.js"), "node", driver)
	})
}
