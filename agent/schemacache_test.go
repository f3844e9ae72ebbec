package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestCompiledSchemasAreKept(t *testing.T) {
	schema := func(n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"p%d":{"type":"string"}}}`, n))
	}
	c := schemaCache{compiled: map[string]*Schema{}}
	first, err := c.compile(schema(0))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.compile(schema(0)); err != nil || again != first {
		t.Errorf("the same text compiles to another schema (%v)", err)
	}
	for n := range 3 * keptSchemas {
		if _, err := c.compile(schema(n)); err != nil {
			t.Fatal(err)
		}
		if len(c.compiled) > keptSchemas {
			t.Fatalf("%d schemas are kept, at most %d may be", len(c.compiled), keptSchemas)
		}
	}
	kept := len(c.compiled)
	large := json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", keptSchemaBytes) + `"}`)
	if _, err := c.compile(large); err != nil || len(c.compiled) != kept {
		t.Errorf("a large schema is kept (%v)", err)
	}
	for range 2 {
		if s, err := c.compile(json.RawMessage(`{"type":7}`)); err == nil || s != nil {
			t.Errorf("an invalid schema compiles to %v", s)
		}
	}
}

func TestSchemaOfATypeBelongsToTheCaller(t *testing.T) {
	type in struct{ Size int }
	first, err := schemaOf(reflect.TypeFor[in]())
	if err != nil {
		t.Fatal(err)
	}
	want := string(first)
	for range 2 {
		clear(first)
		if first, err = schemaOf(reflect.TypeFor[in]()); err != nil || string(first) != want {
			t.Errorf("after a change of what it returned, the schema is %s (%v), want %s", first, err, want)
		}
	}
}
