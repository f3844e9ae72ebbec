// Package openapi holds the OpenAPI document of the REST API and the reference page that is made
// from it.
package openapi

import (
	"bytes"
	"cmp"
	_ "embed" // the document, the page and its style are files
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// Document is the OpenAPI document. `go generate ./internal/httpapi` makes it from the table of
// routes; a test fails when it is not what the table says.
//
//go:embed openapi.json
var Document []byte

// Style is the style sheet of the reference page.
//
//go:embed docs.css
var Style []byte

//go:embed docs.html
var referencePage string

// The parts of an OpenAPI document that the page shows.
type (
	docDocument struct {
		Info struct {
			Title, Version, Description string
		}
		Tags       []docTag
		Paths      map[string]map[string]*docOperation
		Components struct {
			Schemas    map[string]*docSchema
			Parameters map[string]*docParam
			Responses  map[string]*docResponse
		}
	}
	docTag struct {
		Name, Description string
		Operations        []*docOperation
	}
	docOperation struct {
		OperationID, Summary, Description string

		Tags        []string
		Parameters  []*docParam
		RequestBody *docContent
		Responses   map[string]*docResponse

		Method, Path string `json:"-"`
	}
	docParam struct {
		Ref, Name, In, Description string

		Required bool
		Schema   docSchema
	}
	docContent struct {
		Content map[string]struct {
			Schema  docSchema
			Example json.RawMessage
		}
	}
	docResponse struct {
		Ref, Description string
		docContent
	}
	docSchema struct {
		Ref, Description, Format string

		Type       docType
		Items      *docSchema
		Properties map[string]*docSchema
		Required   []string
		Enum       []any
		Examples   []json.RawMessage
		OneOf      []docSchema
		AnyOf      []docSchema // a schema, or null
	}
	// docType is one type or several.
	docType []string
)

func (t *docType) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = docType{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// Reference returns the reference page of a server with this version, as HTML.
func Reference(version string) ([]byte, error) {
	var doc docDocument
	// a Go field cannot be named "$ref".
	if err := json.Unmarshal(bytes.ReplaceAll(Document, []byte(`"$ref"`), []byte(`"ref"`)), &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	doc.group()
	page, err := template.New("docs").Funcs(template.FuncMap{
		"type": typeOf, "prose": prose, "pretty": pretty, "fields": fields,
	}).Parse(referencePage)
	if err != nil {
		return nil, fmt.Errorf("parse the page: %w", err)
	}
	var out bytes.Buffer
	err = page.Execute(&out, struct {
		docDocument
		Server string
	}{doc, version})
	return out.Bytes(), err
}

// methodOrder is the order of the operations of one path.
const methodOrder = "get post put patch delete"

// group adds every operation to its tag and resolves its references.
func (d *docDocument) group() {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		methods := slices.SortedFunc(maps.Keys(d.Paths[path]), func(a, b string) int {
			return cmp.Compare(strings.Index(methodOrder, a), strings.Index(methodOrder, b))
		})
		for _, method := range methods {
			op := d.Paths[path][method]
			op.Method, op.Path = strings.ToUpper(method), path
			for i, p := range op.Parameters {
				if p.Ref != "" {
					op.Parameters[i] = d.Components.Parameters[lastName(p.Ref)]
				}
			}
			for status, r := range op.Responses {
				if r.Ref != "" {
					op.Responses[status] = d.Components.Responses[lastName(r.Ref)]
				}
			}
			at := slices.IndexFunc(d.Tags, func(t docTag) bool { return slices.Contains(op.Tags, t.Name) })
			d.Tags[at].Operations = append(d.Tags[at].Operations, op)
		}
	}
}

func lastName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// typeOf returns a type for human readers, with links to the schemas.
func typeOf(s docSchema) template.HTML {
	switch {
	case s.Ref != "":
		name := html.EscapeString(lastName(s.Ref))
		return template.HTML(`<a href="#schema-` + name + `">` + name + `</a>`)
	case len(s.OneOf) > 0:
		kinds := make([]string, len(s.OneOf))
		for i, one := range s.OneOf {
			kinds[i] = string(typeOf(one))
		}
		return template.HTML(strings.Join(kinds, " or "))
	case len(s.AnyOf) > 0:
		return typeOf(s.AnyOf[0]) + " or null"
	case len(s.Enum) > 0:
		values := make([]string, 0, len(s.Enum))
		for _, v := range s.Enum {
			if v != nil {
				values = append(values, "<code>"+html.EscapeString(fmt.Sprintf("%q", v))+"</code>")
			}
		}
		return template.HTML(strings.Join(values, " "))
	case s.Items != nil:
		return "array of " + typeOf(*s.Items)
	case len(s.Type) == 0:
		return "any JSON value"
	}
	said := slices.Clone(s.Type)
	if s.Format == "date-time" {
		said[0] = "time"
	}
	return template.HTML(html.EscapeString(strings.Join(said, " or ")))
}

// prose formats a description with paragraphs and code.
func prose(text string) template.HTML {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph == "" {
			continue
		}
		out.WriteString("<p>")
		for i, piece := range strings.Split(paragraph, "`") {
			piece = html.EscapeString(piece)
			if i%2 == 1 {
				piece = "<code>" + piece + "</code>"
			}
			out.WriteString(piece)
		}
		out.WriteString("</p>")
	}
	return template.HTML(out.String())
}

func pretty(raw json.RawMessage) (string, error) {
	var out bytes.Buffer
	err := json.Indent(&out, raw, "", "  ")
	return out.String(), err
}

// docField is one row of a table of properties.
type docField struct {
	Name     string
	Required bool
	Schema   docSchema
}

// fields lists the properties of a schema, the required ones first, in the
// order of the document.
func fields(s docSchema) []docField {
	var out []docField
	for _, name := range s.Required {
		out = append(out, docField{name, true, *s.Properties[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			out = append(out, docField{name, false, *s.Properties[name]})
		}
	}
	return out
}
