package agentconfig

import (
	"bytes"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SHOAL_GENERATE writes the schema; without it this says that it is stale.
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
		t.Error("agent-config.schema.json is not what the table says; run `make generate`")
	}
}

// FitsSchema says what the published schema has against a text.
func FitsSchema(t testing.TB, text []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("shoal:schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("shoal:schema.json")
	if err != nil {
		t.Fatalf("the published schema is none: %v", err)
	}
	c := &check{allowed: func(string) bool { return true }}
	value, err := c.read(text)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(value)
}
