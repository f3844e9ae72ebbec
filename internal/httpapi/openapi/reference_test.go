package openapi

import (
	"strings"
	"testing"
)

// What the document says in words cannot become markup.
func TestReferencePageEscapes(t *testing.T) {
	if got := string(prose("a <b> `<i>` & c")); got != "<p>a &lt;b&gt; <code>&lt;i&gt;</code> &amp; c</p>" {
		t.Errorf("prose = %s", got)
	}
	if got := string(typeOf(docSchema{Enum: []any{`"><script>`}})); strings.Contains(got, "<script>") {
		t.Errorf("typeOf = %s", got)
	}
}
