package shoal_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestCheckTrigger(t *testing.T) {
	deep := strings.Repeat("[", shoal.MaxDepth) + strings.Repeat("]", shoal.MaxDepth)
	for name, test := range map[string]struct {
		service, payload string
		want             shoal.Kind
	}{
		"a name alone":               {"nightly", "", ""},
		"any value":                  {"nightly", `[1, "two", null]`, ""},
		"no name":                    {"", `{}`, shoal.InvalidArgument},
		"a name of two lines":        {"a\nb", `{}`, shoal.InvalidArgument},
		"a name that is too long":    {strings.Repeat("n", shoal.MaxName+1), ``, shoal.InvalidArgument},
		"no JSON":                    {"nightly", `{`, shoal.InvalidArgument},
		"nested too deeply":          {"nightly", deep, shoal.InvalidArgument},
		"a payload at the limit":     {"nightly", `"` + strings.Repeat("x", shoal.MaxContent-2) + `"`, ""},
		"a payload over the limit":   {"nightly", `"` + strings.Repeat("x", shoal.MaxContent-1) + `"`, shoal.TooLarge},
		"a character of no database": {"nightly", `"\u0000"`, shoal.InvalidArgument},
	} {
		err := shoal.CheckTrigger(test.service, json.RawMessage(test.payload))
		if got := shoal.KindOf(err); got != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A file part names a file of this server by its path, or one elsewhere by its URL.
func TestFileParts(t *testing.T) {
	for url, want := range map[string]string{
		"/v1/sessions/default/files/fil_1":     "default fil_1",
		shoal.FilePath("lab", "fil_2"):         "lab fil_2",
		"https://example.com/a.png":            "elsewhere",
		"http://example.com/v1/sessions/a/b":   "elsewhere",
		"/v1/sessions/default/files/":          "refused",
		"/v1/sessions//files/fil_1":            "refused",
		"/v1/sessions/default/files/a/b":       "refused",
		"/v1/sessions/default/files/../secret": "refused",
		"/v1/sessions/default/files/fil_1?x=1": "refused",
		"/v2/sessions/default/files/fil_1":     "refused",
		"//evil.example/v1/sessions/a/files/b": "refused",
		"javascript:alert(1)":                  "refused",
	} {
		part := shoal.Part{Type: shoal.FilePart, Name: "a", MediaType: "a/b", URL: url}
		got := "elsewhere"
		if err := (shoal.Draft{Parts: []shoal.Part{part}}).Validate(); err != nil {
			got = "refused"
		}
		if session, id, ok := part.File(); ok {
			got = string(session) + " " + string(id)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", url, got, want)
		}
	}
	if _, _, ok := shoal.Text("/v1/sessions/default/files/fil_1").File(); ok {
		t.Error("a text is taken for a file")
	}
}

func TestFileValidate(t *testing.T) {
	if err := (shoal.File{Name: "a.png", MediaType: "image/png", Size: shoal.MaxFile}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (shoal.File{Name: "a.png", MediaType: "image/png", Size: shoal.MaxFile + 1}).Validate(); !errors.Is(err, shoal.TooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	err := (shoal.File{Name: "a\nb"}).Validate()
	var wrong *shoal.Error
	if !errors.As(err, &wrong) || len(wrong.Fields) != 2 {
		t.Errorf("%v names not both fields", err)
	}
}
