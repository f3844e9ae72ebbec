package main

import (
	"context"
	"path/filepath"
)

const tsRow = "MCP SDK for TypeScript + a file"

var tsDir = filepath.Join("bench", "mcp-ts")

// startTS starts a server with the same two trivial tools on the MCP SDK for TypeScript.
func (r *run) startTS(ctx context.Context) (*process, error) {
	node, err := installNode(ctx, tsDir)
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, node, filepath.Join(tsDir, "server.mjs"), "ADDR", r.newPath("ts")+".log")
}
