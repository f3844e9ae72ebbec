// Package python_test checks that the Python client, installed as it is published, works with a
// real server: its sync half and the one for asyncio behave alike.
package python_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

func TestClients(t *testing.T) {
	command := program.PythonClient(t)
	for _, driver := range []string{"driver_async.py", "driver_sync.py"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			clienttest.Run(t, append(command, driver)...)
			clienttest.Tools(t, append(command, driver)...)
		})
	}
}

func TestSkew(t *testing.T) {
	t.Parallel()
	command := program.PythonClient(t)
	site := strings.TrimPrefix(command[1], "PYTHONPATH=")
	clienttest.Skew(t, filepath.Join(site, "shoal", "_version.py"), append(command, "driver_sync.py")...)
}
