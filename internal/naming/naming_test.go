package naming_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/naming"
)

func TestCheckRejectsInvisibleCharacters(t *testing.T) {
	for _, name := range []string{
		"a\u202elice", "ali\u200bce", "\u2066ann\u2069", "a\u00adnn", "ann\ufeff", "\u2060", "a\u200db", "a\ufe0f", "\u200d👩",
		"\u3164", "\u2800", " ", "\u00a0\u3000", "\u0301", "x\U000e0041", "a\u2028b", "a\u061cb", "Ann (@ann)", "Ann ( @ann)", "Ann （＠ann）", "Ann (\u200b@ann)",
	} {
		if err := naming.Check("name", name); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%+q: %v", name, err)
		}
	}
	for _, name := range []string{"", "Ann", "Zoë Łuczak", "山田　太郎", "שרה", "محمد", "नेहा", "👩‍💻 Coder", "❤️ bot", "🏳️‍🌈", "ann@example.com", "Bot (new)", "a b"} {
		if err := naming.Check("name", name); err != nil {
			t.Errorf("%+q: %v", name, err)
		}
	}
}

func TestReservedNames(t *testing.T) {
	for _, name := range []string{
		"System", "system", "SYSTEM", " system ", "sуstem", "sys\u200btem", "Systern", "ｓｙｓｔｅｍ", "𝐒𝐲𝐬𝐭𝐞𝐦", "@system", "operator", "0perator", "ОРЕRАТОR", "admin", "аdmin", "AdmIn", "Everyone", "here", "SHOAL", "shoaI",
	} {
		if err := naming.CheckReserved("name", name); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"Systems", "operations", "Ann", "admin-bot", "heremias", "shop-agent"} {
		if err := naming.CheckReserved("name", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The names of each of the first pairs can be confused; the later ones cannot.
func TestKeysOfConfusableNames(t *testing.T) {
	for _, pair := range [][2]string{
		{"alice", "Alice"},
		{"alice", "ALICE"},
		{"alice", "аlісе"},
		{"alice", "a1ice"},
		{"alice", "AIice"},
		{"Bob", "Воb"},
		{"modern", "rnodern"},
		{"Ann Lee", "Ann\u00a0Lee"},
		{"Ann Lee", " ann   lee "},
		{"Zoë", "Zoe\u0308"},
		{"Ann", "Ａｎｎ"},
		{"Ann", "A\u200bnn"},
		{"o0", "Oo"},
	} {
		if naming.Key(pair[0]) != naming.Key(pair[1]) {
			t.Errorf("%q and %+q differ: %q, %q", pair[0], pair[1], naming.Key(pair[0]), naming.Key(pair[1]))
		}
	}
	for _, pair := range [][2]string{{"alice", "alex"}, {"Ann", "Anne"}, {"Zoë", "Zoe"}, {"bot1", "bot2"}, {"山田", "田中"}} {
		if naming.Key(pair[0]) == naming.Key(pair[1]) {
			t.Errorf("%q and %q are the same: %q", pair[0], pair[1], naming.Key(pair[0]))
		}
	}
}

func TestDisplayNames(t *testing.T) {
	names := map[shoal.EntityID]string{
		shoal.System: "System", "u1": "Ann", "u2": "Аnn", "u3": "Bob", "bot": "system", "old": "Eve\u202e", "none": "\u200b", "fake": "Kim (@u3)",
	}
	before := maps.Clone(names)
	want := map[shoal.EntityID]string{
		shoal.System: "System", "u1": "Ann (@u1)", "u2": "Аnn (@u2)", "u3": "Bob", "bot": "system (@bot)", "old": "Eve (@old)", "none": "(@none)", "fake": "Kim (u3) (@fake)",
	}
	if got := naming.DisplayNames(names); !maps.Equal(got, want) {
		t.Errorf("shown as %q, want %q", got, want)
	}
	if !maps.Equal(names, before) {
		t.Error("the names were changed")
	}
	members := naming.DisplayMembers([]shoal.Member{{EntityID: "u2", Name: "Ann"}, {EntityID: "u1", Name: "ann"}, {EntityID: "u3", Name: "Bob"}})
	if members[0].Name != "Ann (@u2)" || members[1].Name != "ann (@u1)" || members[2].Name != "Bob" {
		t.Errorf("members: %+v", members)
	}
}

// Keys are the same with and without the table for ASCII.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"Alice", "m1\tI", "Ａ\u200b b", "\xff", "@@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key := naming.Key(s)
		if long := naming.Key(s + "\u200b"); long != key {
			t.Errorf("%+q: got the key %q, and %q with an invisible character", s, key, long)
		}
		if shown := naming.DisplayNames(map[shoal.EntityID]string{"x": s}); naming.Check("name", s) == nil && naming.Key(s) != naming.Key("system") && shown["x"] != s {
			t.Errorf("%+q alone is shown as %q", s, shown["x"])
		}
	})
}
