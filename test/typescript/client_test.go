// Package typescript_test checks that the TypeScript client, built as it is published, works with a
// real server.
package typescript_test

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

func TestClient(t *testing.T) {
	clienttest.Run(t, "node", program.TypeScript(t, "driver.ts"))
}
