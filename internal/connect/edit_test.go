package connect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scout is the target of the entries.
var scout = Target{URL: "http://127.0.0.1:7462", Agent: "scout", Key: "shoal_secret"}

func clientOf(t testing.TB, id string) *Client {
	t.Helper()
	c, err := ClientOf(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Adding an entry keeps every byte that a person has written, and removing it restores
// the file.
func TestEntryGoesInAndOut(t *testing.T) {
	t.Parallel()
	const entry = `"shoal": {
      "url": "http://127.0.0.1:7462/mcp",
      "headers": {
        "Authorization": "Bearer shoal_secret"
      }
    }`
	const flat = `"shoal": {"url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer shoal_secret"}}`
	const table = `[mcp_servers.shoal]
url = "http://127.0.0.1:7462/mcp"
http_headers = { Authorization = "Bearer shoal_secret" }
tool_timeout_sec = 660
`
	for name, test := range map[string]struct{ client, before, after string }{
		"nothing":         {"cursor", "", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		"a line break":    {"cursor", "\n", "\n{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		"an empty object": {"cursor", "{}", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		"no servers": {
			"cursor", "{\n  \"a\": [1, 2]\n}\n",
			"{\n  \"a\": [1, 2],\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n",
		},
		"another server": {
			"cursor", "{\n  \"mcpServers\": {\n    \"a\": {}\n  },\n  \"b\": null\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    " + entry + "\n  },\n  \"b\": null\n}\n",
		},
		"comments and a last comma": {
			"cursor", "// mine\n{\n  \"mcpServers\": {\n    \"a\": {}, // why\n    /* more */\n  },\n}\n",
			"// mine\n{\n  \"mcpServers\": {\n    \"a\": {}, // why\n    /* more */\n    " + entry + ",\n  },\n}\n",
		},
		"a comment after the last": {
			"cursor", "{\n  \"mcpServers\": {\n    \"a\": {} // why, though\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {}, // why, though\n    " + entry + "\n  }\n}\n",
		},
		"all in one line":  {"cursor", `{"mcpServers": {"a": {}}}`, `{"mcpServers": {"a": {}, ` + flat + `}}`},
		"lines of Windows": {"cursor", "{\r\n  \"a\": 1\r\n}\r\n", strings.ReplaceAll("{\n  \"a\": 1,\n  \"mcpServers\": {\n    "+entry+"\n  }\n}\n", "\n", "\r\n")},
		"tabs": {
			"cursor", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}\n",
			strings.ReplaceAll("{\n  \"mcpServers\": {\n    \"a\": {},\n    "+entry+"\n  }\n}\n", "  ", "\t"),
		},
		"TOML: nothing":                {"codex", "", table},
		"TOML: comments and no end":    {"codex", "# mine\nmodel = \"x\" # why", "# mine\nmodel = \"x\" # why\n\n" + table},
		"TOML: tables and long texts":  {"codex", "a = '''\n[mcp_servers.shoal]\n'''\n[t] # c\nb = [\n  1, # ]\n]\n", "a = '''\n[mcp_servers.shoal]\n'''\n[t] # c\nb = [\n  1, # ]\n]\n\n" + table},
		"TOML: beside another server":  {"codex", "[mcp_servers]\n[mcp_servers.\"a.b\"]\ncommand = 'x'\n", "[mcp_servers]\n[mcp_servers.\"a.b\"]\ncommand = 'x'\n\n" + table},
		"TOML: lines of Windows":       {"codex", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		"TOML: a servers key of a key": {"codex", "[mcp_servers]\na.command = 'x'\n", "[mcp_servers]\na.command = 'x'\n\n" + table},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(t, test.client)
			after, made, err := c.set(test.before, "shoal", scout)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, after); diff != "" {
				t.Errorf("with the entry (-want +got):\n%s", diff)
			}
			again, _, err := c.set(after, "shoal", scout)
			if err != nil || again != after {
				t.Errorf("a second time it changes (%v):\n%s", err, cmp.Diff(after, again))
			}
			back, err := c.cut(after, "shoal", made)
			if err != nil {
				t.Fatal(err)
			}
			want := test.before
			if name == "TOML: comments and no end" {
				want += "\n" // the table needed it
			}
			if diff := cmp.Diff(want, back); diff != "" {
				t.Errorf("without it again (-want +got):\n%s", diff)
			}
		})
	}
}

// What a person has added to an entry survives a new key.
func TestNewKeyInAnOldEntry(t *testing.T) {
	t.Parallel()
	for client, test := range map[string]struct{ before, after string }{
		"gemini-cli": {
			`{"mcpServers": {"shoal": {"httpUrl": "http://127.0.0.1:7462/mcp", "trust": true, "headers": {"Authorization": "Bearer shoal_old"}, "timeout": 1}}}`,
			`"trust": true`,
		},
		"codex": {
			"[mcp_servers.shoal]\nurl = \"http://127.0.0.1:7462/mcp\"\nbearer_token_env_var = \"OLD\" # gone\ndefault_tools_approval_mode = \"approve\"\n[mcp_servers.shoal.tools.send_message]\napproval_mode = \"approve\"\n[z]\n",
			"[mcp_servers.shoal]\nurl = \"http://127.0.0.1:7462/mcp\"\ndefault_tools_approval_mode = \"approve\"\nhttp_headers = { Authorization = \"Bearer shoal_secret\" }\ntool_timeout_sec = 660\n[mcp_servers.shoal.tools.send_message]\napproval_mode = \"approve\"\n[z]\n",
		},
	} {
		c := clientOf(t, client)
		after, _, err := c.set(test.before, "shoal", scout)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(after, test.after) || !strings.Contains(after, "shoal_secret") || strings.Contains(after, "old") {
			t.Errorf("%s:\n%s", client, after)
		}
		if gone, err := c.cut(after, "shoal", nil); err != nil || strings.Contains(gone, "approv") || strings.Contains(gone, "trust") {
			t.Errorf("%s: without the entry (%v):\n%s", client, err, gone)
		}
	}
}

// VS Code asks for the key, and is asked to.
func TestVSCodeAsks(t *testing.T) {
	t.Parallel()
	c := clientOf(t, "code")
	const before = "{\n\t// mine\n\t\"inputs\": [\n\t\t{\"id\": \"other\"}\n\t],\n\t\"servers\": {}\n}\n"
	after, made, err := c.set(before, "shoal", scout)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(after, "shoal_secret") {
		t.Errorf("the key is in the file:\n%s", after)
	}
	for _, part := range []string{`"Bearer ${input:shoal-key}"`, `"id": "shoal-key"`, `"password": true`, `{"id": "other"},`} {
		if !strings.Contains(after, part) {
			t.Errorf("%s is missing in\n%s", part, after)
		}
	}
	if back, err := c.cut(after, "shoal", made); err != nil || back != before {
		t.Errorf("without it again (%v):\n%s", err, cmp.Diff(before, back))
	}
}

// Of the comments around an entry none goes with it, and none swallows what
// follows.
func TestCutKeepsComments(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"{\"servers\": {\n// a\n\"shoal\": {} }}":                                   "{\"servers\": {\n// a\n }}",
		"{\"servers\": {\n\"a\": 1, // a\n\"shoal\": {} // b\n}}":                   "{\"servers\": {\n\"a\": 1 // a\n // b\n}}",
		"{\"servers\": {\"shoal\": {} /* b */, \"c\": 1}}":                          "{\"servers\": {/* b */ \"c\": 1}}",
		"{\"servers\": {\"shoal\": {}, // b\n\"c\": 1}}":                            "{\"servers\": { // b\n\"c\": 1}}",
		"{\"servers\": {\"a\": 1, /* x */ \"shoal\": {}, /* y */ \"c\": 1}}":        "{\"servers\": {\"a\": 1, /* x */ /* y */ \"c\": 1}}",
		"{\"servers\": {\"shoal\": {}}, \"inputs\": [{\"id\": \"shoal-key\"}, 1,]}": "{\"servers\": {}, \"inputs\": [ 1,]}",
	} {
		if got, err := clientOf(t, "vscode").cut(before, "shoal", nil); err != nil || got != want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s (%v)", before, got, want, err)
		}
	}
}

// What is not to be edited without harm is refused, in words.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ client, text, why string }{
		{"cursor", `{`, "line 1, column 2: parsing value: unexpected EOF"},
		{"cursor", "{\n\"a\": 1\n\"b\": 2}", "line 3, column 1: invalid character '\"' after object value (expecting ',' or '}')"},
		{"cursor", `{"a": tru}`, "line 1, column 7: invalid literal"},
		{"cursor", `{"a": "`, "parsing string: unexpected EOF"},
		{"cursor", "{\"a\": \"\t\"}", "line 1, column 7: invalid literal"},
		{"cursor", `{} {}`, "after top-level value"},
		{"cursor", `{} /*`, "parsing comment: unexpected EOF"},
		{"cursor", `[]`, "it is not a JSON object"},
		{"cursor", strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300), "it nests too deep"},
		{"cursor", strings.Repeat("[", 1_000_000), "it is too large"},
		{"cursor", `{"mcpServers": []}`, "an object was expected at mcpServers"},
		{"cursor", `{"mcpServers": {}, "mcpServers": {}}`, `"mcpServers" occurs twice`},
		{"vscode", `{"inputs": {}}`, "an array was expected at inputs"},
		{"codex", "a = ", "it is not TOML: line 1"},
		{"codex", "mcp_servers = {}\n", "is not written as a table with the head [mcp_servers.shoal]"},
		{"codex", "[mcp_servers]\nshoal = {url = 'x'}\n", "is not written as a table"},
		{"codex", "mcp_servers.shoal.url = 'x'\n", "is not written as a table"},
		{"codex", "[mcp_servers.shoal.tools]\n", "there are parts of [mcp_servers.shoal], but not the table itself"},
		{"codex", "[[mcp_servers]]\n", "only a person can change"},
	} {
		_, err := config(t, test.client, test.text)
		if err == nil {
			var c *Config
			if c, err = config(t, test.client, test.text); err == nil {
				_, err = c.With("shoal", scout, nil)
			}
		}
		if err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s %.40q: %v\nwant %s", test.client, test.text, err, test.why)
		}
	}
}

// A string that is not JSON may be a key: an error does not repeat it.
func TestRefusalHoldsNoText(t *testing.T) {
	t.Parallel()
	_, _, err := scanJSON("{\"key\": \"sk-secret\t\"}")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want one without the text", err)
	}
}
