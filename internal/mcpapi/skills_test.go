package mcpapi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// kinds are the codes of failures that the skill may name.
var kinds = []shoal.Kind{
	shoal.InvalidArgument, shoal.TooLarge, shoal.NotFound, shoal.Forbidden, shoal.AdminRequired, shoal.IdentityMismatch, shoal.AlreadyExists, shoal.Conflict,
	shoal.AlreadyAnswered, shoal.ArgsChanged, shoal.SpaceClosed, shoal.RateLimited, shoal.TooManyWaiters, shoal.Busy, shoal.Internal, shoal.Unauthenticated,
}

// code finds what the text of a skill marks as code.
var code = regexp.MustCompile("`([^`]+)`")

// A client reads the files of the skill, and every tool, input, code and file that they name exists.
func TestTheSkillNamesWhatExists(t *testing.T) {
	w := newWorld(t)
	for _, by := range transports {
		ann := w.join(by, "ann")
		known := map[string]bool{
			"reach": true, "approved: true": true, "approved: false": true, "redeliver: true": true, // a field of a result, and inputs with values
		}
		for name, tool := range ann.tools() {
			known[name] = true
			for _, input := range strings.Fields(inputsOf(t, tool)) {
				known[strings.TrimRight(strings.Split(input, "=")[0], "*")] = true
			}
		}
		for _, k := range kinds {
			known[string(k)] = true
		}
		listed, err := ann.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		root, texts := "skill://working-with-shoal/", map[string]string{}
		for _, r := range listed.Resources {
			path, is := strings.CutPrefix(r.URI, root)
			if !is {
				continue
			}
			known[path] = true
			got, err := ann.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
			if err != nil || len(got.Contents) != 1 || got.Contents[0].MIMEType != "text/markdown" || int64(len(got.Contents[0].Text)) != r.Size {
				t.Fatalf("%s: %s: %+v, %v", by.name, r.URI, got, err)
			}
			texts[path] = got.Contents[0].Text
		}
		if len(texts) != 4 || !strings.Contains(texts["SKILL.md"], "# Working with Shoal") {
			t.Errorf("%s: the files are %d", by.name, len(texts))
		}
		for path, text := range texts {
			for _, found := range code.FindAllStringSubmatch(text, -1) {
				if !known[found[1]] {
					t.Errorf("%s: %s names `%s`, which does not exist", by.name, path, found[1])
				}
			}
		}
	}
}
