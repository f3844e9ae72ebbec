package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"threadId":"shop","content":"over stdio"}}}
`

// The bridge acts as the entity of --as, in a space that it was added to, and ends when its
// standard input ends.
func TestMCPOverStandardStreams(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, session := served(t, "127.0.0.1:0", data)
	defer server.Stop()
	if _, err := session.CreateEntity(t.Context(), shoal.NewEntity{ID: "scout"}); err != nil {
		t.Fatal(err)
	}
	if _, err := session.CreateSpace(t.Context(), shoal.NewSpace{ID: "shop", Name: "Shop"}); err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	bridge := startWith(t, in, []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}, "mcp", "--admin", "--as", "scout", "--space", "shop")
	go func() { _, _ = io.WriteString(feed, hello) }() // the bridge reads all of it
	if first := bridge.see(`"id":1`); !strings.HasPrefix(first, "{") || !strings.Contains(first, `"serverInfo"`) {
		t.Errorf("got %s", first)
	}
	if sent := bridge.see(`"id":2`); !strings.Contains(sent, "Message sent successfully:") {
		t.Errorf("got %s", sent)
	}
	_ = feed.Close()
	for bridge.lines.Scan() {
		t.Errorf("standard output continues with %q", bridge.lines.Text())
	}
	if err := bridge.Wait(); err != nil {
		t.Errorf("ended with %v: %s", err, bridge.notes)
	}
	for m, err := range session.Timeline(t.Context(), "shop", 0) {
		if err != nil || m.EntityID != "scout" || m.Text() != "over stdio" {
			t.Errorf("message %+v, %v", m, err)
		}
	}
}
