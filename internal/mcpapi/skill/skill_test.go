package skill

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestSkillsOfTheProgram(t *testing.T) {
	skills, err := read(embedded)
	if err != nil || len(skills) == 0 {
		t.Fatalf("%d skills, %v", len(skills), err)
	}
	for _, s := range skills {
		for _, f := range s.Resources {
			if f.Size == 0 || f.Size != len(f.text) || !strings.HasPrefix(f.URI, strings.TrimSuffix(s.URI, mainFile)) {
				t.Errorf("%s has the file %s of %d bytes", s.URI, f.URI, f.Size)
			}
		}
		if s.URI == Working {
			return
		}
	}
	t.Errorf("there is no skill %s", Working)
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no fields":         {"# Title\n", "SKILL.md does not begin with fields between lines of dashes"},
		"fields do not end": {"---\nname: x\n", "SKILL.md does not begin with fields between lines of dashes"},
		"another name":      {"---\nname: y\ndescription: d\n---\n", "SKILL.md needs the name x and a description"},
		"no description":    {"---\nname: x\n---\n", "SKILL.md needs the name x and a description"},
		"not YAML":          {"---\nname: [\n---\n", "skill x: "},
		"good":              {"---\nname: x\ndescription: d\n---\ntext\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(fstest.MapFS{"files/x/SKILL.md": {Data: []byte(c.text)}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := read(fstest.MapFS{"files/x/other.md": {Data: []byte("text")}, "files": {Mode: fs.ModeDir}}); err == nil {
		t.Error("a skill without SKILL.md is read")
	}
}
