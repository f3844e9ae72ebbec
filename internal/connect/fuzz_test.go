package connect

import (
	"strings"
	"testing"
)

// FuzzJSON edits whatever a client's file may hold: what it says besides stays,
// and no byte of it is lost on the way in.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "{\"mcpServers\": {\"a\": {}}, }", "// c\n{\"a\": 1 /* b */}", "{\"mcpServers\": {\"shoal\": {\"url\": \"x\"}, \"b\": 2}}",
		"\ufeff{\r\n\t\"inputs\": [ // c\r\n\t],\r\n}\r\n", "{\"servers\": {\"shoal\": 1}, \"inputs\": [{\"id\": \"shoal-key\"}]}", `{"a": "\u00e9\"//"}`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, src string, code bool) {
		client := "cursor"
		if code {
			client = "vscode"
		}
		edits(t, clientOf(t, client), src)
	})
}

// FuzzTOML is FuzzJSON for the file of Codex.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1", "# c\n[mcp_servers.a]\ncommand = 'x'\n", "[mcp_servers.shoal]\nurl = \"x\" # c\n\n[mcp_servers.shoal.tools]\na = 1\n[b]\n",
		"a = \"\"\"\n[mcp_servers.shoal]\n\"\"\"\"\"\r\n[t]\r\nb = [ # ]\r\n1,\r\n]\r\n", "[mcp_servers.\"sh\\u006fal\"]\nurl=''", "[[mcp_servers]]\n",
		"a = '''x''''\n[mcp_servers]\nb = {c = '#'} # d\n", "x = nan\nd = 1979-05-27T07:32:00Z\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) { edits(t, clientOf(t, "codex"), src) })
}

func edits(t *testing.T, c *Client, src string) {
	before, err := c.rest(src, "shoal")
	if err != nil {
		return // refused when the file is opened
	}
	old, err := c.read(src, "shoal")
	if err != nil {
		t.Fatalf("it was read a moment ago: %v", err)
	}
	after, made, err := c.set(src, "shoal", scout)
	if err != nil {
		return // refused in words: TestRefused
	}
	if old == nil && !subsequence(blanks.Replace(src), after) {
		t.Fatalf("%q lost something in %q", src, after)
	}
	if !proven(c, before, after) {
		return // refused by Config.prove
	}
	entry, err := c.read(after, "shoal")
	if err != nil || entry == nil {
		t.Fatalf("there is no entry in %q (%v)", after, err)
	}
	if again, _, err := c.set(after, "shoal", scout); err != nil || again != after {
		t.Fatalf("%q\na second time becomes\n%q (%v)", after, again, err)
	}
	back, err := c.cut(after, "shoal", made)
	if err != nil {
		t.Fatalf("%q was edited, but the way back is barred: %v", after, err)
	}
	if !proven(c, before, back) {
		t.Fatalf("%q\nbecomes\n%q\nand back\n%q", src, after, back)
	}
	if left, err := c.read(back, "shoal"); err != nil || left != nil {
		t.Fatalf("the entry is still in %q (%v)", back, err)
	}
}

// blanks takes white space away: that of an empty object may change.
var blanks = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

// proven reports whether a text says what it is to say besides the entry.
func proven(c *Client, want map[string]any, text string) bool {
	got, err := c.rest(text, "shoal")
	return err == nil && same(want, got)
}

// subsequence reports whether all of a is in b, in its order.
func subsequence(a, b string) bool {
	for i := range len(a) {
		at := strings.IndexByte(b, a[i])
		if at < 0 {
			return false
		}
		b = b[at+1:]
	}
	return true
}
