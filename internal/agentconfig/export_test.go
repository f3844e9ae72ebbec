package agentconfig

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// With SHOAL_GENERATE the test writes the schema; without it, it fails if the schema is stale.
func TestSchemaIsFresh(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SHOAL_GENERATE") != "" {
		if err := os.WriteFile("agent-config.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, Schema()) {
		t.Error("agent-config.schema.json does not match the table; run `make generate`")
	}
}

// CheckSchema validates a text against the published schema.
func CheckSchema(t testing.TB, text []byte) error {
	t.Helper()
	var published jsonschema.Schema
	if err := json.Unmarshal(Schema(), &published); err != nil {
		t.Fatal(err)
	}
	// Schemas within a configuration refer to their meta-schema.
	load := func(dialect *url.URL) (*jsonschema.Schema, error) {
		text := draft2020JSON
		if strings.HasPrefix(dialect.String(), draft7) {
			text = draft7JSON
		}
		var meta jsonschema.Schema
		return &meta, json.Unmarshal(text, &meta)
	}
	compiled, err := published.Resolve(&jsonschema.ResolveOptions{Loader: load})
	if err != nil {
		t.Fatalf("the published schema is invalid: %v", err)
	}
	c := &check{allowed: func(string) bool { return true }}
	value, err := c.read(text)
	if err != nil {
		t.Fatal(err)
	}
	// Validate wants numbers as encoding/json reads them.
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(plain)
}
