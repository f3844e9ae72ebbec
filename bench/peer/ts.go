package peer

import (
	"context"
	"path/filepath"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
)

// TSRow names the MCP SDK for TypeScript in tables.
const TSRow = "MCP SDK for TypeScript + a file"

var tsDir = filepath.Join("bench", "mcp-ts")

// StartTS starts a server with the same two trivial tools on the MCP SDK for TypeScript.
func StartTS(ctx context.Context, r *driver.Run) (*process.Process, error) {
	node, err := process.InstallNode(ctx, tsDir)
	if err != nil {
		return nil, err
	}
	return process.Start(ctx, node, filepath.Join(tsDir, "server.mjs"), "ADDR", r.NewPath("ts")+".log")
}
