// Package typescript_test checks that the TypeScript client, built as it is published, works with a
// real server.
package typescript_test

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

func TestClient(t *testing.T) {
	driver := program.TypeScript(t, "driver.ts")
	clienttest.Run(t, "node", driver)
	clienttest.Tools(t, "node", driver)
}
