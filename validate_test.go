package shoal_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

func ref[T any](v T) *T { return &v }

var (
	long    = strings.Repeat("x", shoal.MaxName)
	tooLong = long + "x"
)

// nested is JSON of a depth.
func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1))
}

// object is a JSON object of so many bytes.
func object(size int) json.RawMessage {
	return json.RawMessage(`{"a":"` + strings.Repeat("x", size-8) + `"}`)
}

// parts is so many short texts.
func parts(n int) []shoal.Part { return slices.Repeat([]shoal.Part{shoal.Text("x")}, n) }

// Every input names every field that is wrong, all in one answer, and accepts
// what is exactly as large as allowed.
func TestValidate(t *testing.T) {
	file := shoal.Part{Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", URL: "https://files.example/a.png", Size: 1}
	data := func(raw string) shoal.Part {
		return shoal.Part{Type: shoal.DataPart, Name: "chart", Data: json.RawMessage(raw)}
	}
	for name, c := range map[string]struct {
		input interface{ Validate() error }
		wrong string // locations
	}{
		"session: nothing":         {shoal.NewSession{}, ""},
		"session: all":             {shoal.NewSession{ID: "lab", Name: long}, ""},
		"session: bad":             {shoal.NewSession{ID: "a b", Name: tooLong}, "id name"},
		"session: two lines":       {shoal.NewSession{Name: "a\nb"}, "name"},
		"entity: least":            {shoal.NewEntity{ID: "bot"}, ""},
		"entity: all":              {shoal.NewEntity{ID: "ann", Kind: shoal.Human, Name: long, Description: strings.Repeat("x\n", shoal.MaxDescription/2), ExternalID: ref(long), Metadata: object(shoal.MaxMetadata)}, ""},
		"entity: nothing":          {shoal.NewEntity{}, "id"},
		"entity: all bad":          {shoal.NewEntity{ID: "system", Kind: "robot", Name: "\x1b[31m", Description: strings.Repeat("x", shoal.MaxDescription+1), ExternalID: ref(""), Metadata: json.RawMessage(`[]`)}, "id kind name description externalId metadata"},
		"entity change: nothing":   {shoal.EntityChange{}, ""},
		"entity change: empty":     {shoal.EntityChange{Name: ref(""), Description: ref("")}, ""},
		"entity change: bad":       {shoal.EntityChange{Name: ref("\xff"), Description: ref("\x00"), ExternalID: ref(tooLong)}, "name description externalId"},
		"space: least":             {shoal.NewSpace{Name: "Shop"}, ""},
		"space: all":               {shoal.NewSpace{ID: "shop", Name: long, Members: make([]shoal.EntityID, shoal.MaxNewMembers), Metadata: object(shoal.MaxMetadata)}, ""},
		"space: nothing":           {shoal.NewSpace{}, "name"},
		"space: all bad":           {shoal.NewSpace{ID: "..", Name: "a\tb", Members: make([]shoal.EntityID, shoal.MaxNewMembers+1), Metadata: object(shoal.MaxMetadata + 1)}, "id name members metadata"},
		"space change: nothing":    {shoal.SpaceChange{}, ""},
		"space change: unset":      {shoal.SpaceChange{AdminAgentID: ref(shoal.EntityID(""))}, ""},
		"space change: bad":        {shoal.SpaceChange{Name: ref(""), Metadata: json.RawMessage(`{`)}, "name metadata"},
		"metadata: depth 16":       {shoal.SpaceChange{Metadata: nested(shoal.MaxDepth)}, ""},
		"metadata: depth 17":       {shoal.SpaceChange{Metadata: nested(shoal.MaxDepth + 1)}, "metadata"},
		"metadata: brackets":       {shoal.SpaceChange{Metadata: json.RawMessage(`{"a":"\"[[[[[[[[[[[[[[[[[[[[{{{"}`)}, ""},
		"metadata: NUL":            {shoal.SpaceChange{Metadata: json.RawMessage(`{"a":"\u0000"}`)}, "metadata"},
		"metadata: white space":    {shoal.SpaceChange{Metadata: json.RawMessage(" \n{} ")}, ""},
		"metadata: two values":     {shoal.SpaceChange{Metadata: json.RawMessage(`{} {}`)}, "metadata"},
		"key: admin":               {shoal.NewKey{Role: shoal.RoleAdmin, Name: long}, ""},
		"key: service":             {shoal.NewKey{Role: shoal.RoleService, SessionID: "lab"}, ""},
		"key: entity":              {shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot", Kind: shoal.Human, ExpiresAt: ref(shoal.At(time.Unix(0, 0)))}, ""},
		"key: nothing":             {shoal.NewKey{}, "role"},
		"key: admin of a session":  {shoal.NewKey{Role: shoal.RoleAdmin, SessionID: "lab", EntityID: "bot"}, "sessionId entityId"},
		"key: service as somebody": {shoal.NewKey{Role: shoal.RoleService, EntityID: "bot"}, "entityId"},
		"key: entity as nobody":    {shoal.NewKey{Role: shoal.RoleEntity, SessionID: "a b", Kind: "robot", Name: "a\nb"}, "sessionId entityId kind name"},
		"draft: text":              {shoal.Draft{Parts: parts(1)}, ""},
		"draft: all":               {shoal.Draft{Parts: parts(shoal.MaxParts), Mentions: make([]shoal.EntityID, shoal.MaxMentions)}, ""},
		"draft: nothing":           {shoal.Draft{}, "parts"},
		"draft: too many":          {shoal.Draft{Parts: parts(shoal.MaxParts + 1), Mentions: make([]shoal.EntityID, shoal.MaxMentions+1)}, "parts mentions"},
		"draft: lines and emoji":   {shoal.Draft{Parts: []shoal.Part{shoal.Text("two\nlines\t\U0001F41F")}}, ""},
		"draft: bad texts":         {shoal.Draft{Parts: []shoal.Part{shoal.Text(""), shoal.Text("ok"), shoal.Text("\xff"), shoal.Text("\x00")}}, "parts[0].text parts[2].text parts[3].text"},
		"draft: types":             {shoal.Draft{Parts: []shoal.Part{{}, {Type: "tool_call"}, {Type: "Text"}}}, "parts[0].type parts[1].type parts[2].type"},
		"draft: file":              {shoal.Draft{Parts: []shoal.Part{file}}, ""},
		"draft: bad file":          {shoal.Draft{Parts: []shoal.Part{{Type: shoal.FilePart, URL: "javascript:alert(1)", Size: -1}}}, "parts[0].name parts[0].mediaType parts[0].url parts[0].size"},
		"draft: data":              {shoal.Draft{Parts: []shoal.Part{data(`{}`), data(`null`), data(`"x"`), data(` [1] `)}}, ""},
		"draft: bad data":          {shoal.Draft{Parts: []shoal.Part{data(``), data(`{`), data(`1 2`), data(`"\u0000"`)}}, "parts[0].data parts[1].data parts[2].data parts[3].data"},
		"draft: deep data":         {shoal.Draft{Parts: []shoal.Part{data(string(nested(shoal.MaxDepth - 1))), data(string(nested(shoal.MaxDepth)))}}, "parts[1].data"},
	} {
		err := c.input.Validate()
		var e *shoal.Error
		errors.As(err, &e)
		var wrong []string
		if e != nil {
			for _, f := range e.Fields {
				wrong = append(wrong, f.Location)
				if f.Message == "" || !strings.Contains(e.Msg, f.Message) {
					t.Errorf("%s: the sentence %q does not say %q", name, e.Msg, f.Message)
				}
			}
		}
		if got := strings.Join(wrong, " "); got != c.wrong {
			t.Errorf("%s: wrong are %q, want %q (%v)", name, got, c.wrong, err)
		}
		if err != nil && e.Kind != shoal.InvalidArgument {
			t.Errorf("%s: the kind is %s", name, e.Kind)
		}
	}
}

// The error for a message that is too large states the limit and what to do.
func TestContentIsBounded(t *testing.T) {
	whole := strings.Repeat("x", shoal.MaxContent)
	if err := (shoal.Draft{Parts: []shoal.Part{shoal.Text(whole)}}).Validate(); err != nil {
		t.Errorf("%d bytes: %v", len(whole), err)
	}
	for name, draft := range map[string]shoal.Draft{
		"one part":  {Parts: []shoal.Part{shoal.Text(whole + "x")}},
		"two parts": {Parts: []shoal.Part{shoal.Text(whole), shoal.Text("x")}},
		"data":      {Parts: []shoal.Part{{Type: shoal.DataPart, Name: "d", Data: json.RawMessage(`"` + whole + `"`)}}},
		"umlauts":   {Parts: []shoal.Part{shoal.Text(strings.Repeat("ü", shoal.MaxContent/2+1))}},
	} {
		err := draft.Validate()
		if !errors.Is(err, shoal.TooLarge) || !strings.Contains(err.Error(), "several messages") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckSummary(t *testing.T) {
	for summary, ok := range map[string]bool{
		"done": true, "two\nlines": true, strings.Repeat("x", shoal.MaxSummary): true,
		"": false, "\x00": false, "\xff": false, strings.Repeat("x", shoal.MaxSummary+1): false,
	} {
		if err := shoal.CheckSummary(summary); (err == nil) != ok {
			t.Errorf("a summary of %d bytes: %v, want it accepted: %v", len(summary), err, ok)
		}
	}
}

func TestClamps(t *testing.T) {
	for n, want := range map[int]int{0: 20, 1: 1, -5: 1, 50: 50, 200: 200, 201: 200, 1 << 40: 200} {
		if got := shoal.PageLimit(n, 20); got != want {
			t.Errorf("PageLimit(%d) = %d, want %d", n, got, want)
		}
	}
	for d, want := range map[time.Duration]time.Duration{
		-1: 0, 0: 0, time.Second: time.Second, 600 * time.Second: 600 * time.Second, 601 * time.Second: 600 * time.Second,
		1<<63 - 1: 600 * time.Second, -1 << 63: 0,
	} {
		if got := shoal.ClampWait(d); got != want {
			t.Errorf("ClampWait(%v) = %v, want %v", d, got, want)
		}
	}
}
