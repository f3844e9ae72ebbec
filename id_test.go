package shoal_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
)

// Generated ids keep the rules that callers' ids keep, do not repeat, and sort
// in the order of their making, also within a millisecond.
func TestNewID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[shoal.MessageID]bool{}
		var ids []shoal.MessageID
		for range 200 {
			for range 50 {
				id := shoal.NewID[shoal.MessageID](shoal.PrefixMessage)
				if err := shoal.CheckID("id", string(id)); err != nil {
					t.Fatal(err)
				}
				if seen[id] {
					t.Fatalf("%s was given twice", id)
				}
				seen[id] = true
				ids = append(ids, id)
			}
			<-time.After(time.Millisecond)
		}
		<-time.After(30 * 365 * 24 * time.Hour)
		ids = append(ids, shoal.NewID[shoal.MessageID](shoal.PrefixMessage))
		if !slices.IsSorted(ids) {
			t.Error("ids do not sort in the order of their making")
		}
		if id := ids[0]; !strings.HasPrefix(string(id), "msg_") || len(id) != 26 {
			t.Errorf("the id %q; want msg_ and 22 characters", id)
		}
	})
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "shop": true, "Data-Analyzer_2.0": true, "0": true, "-": true, "_": true, "...": true, ".a": true,
		"system1": true, "System": true, strings.Repeat("x", shoal.MaxID): true,
		"": false, ".": false, "..": false, "system": false, strings.Repeat("x", shoal.MaxID+1): false,
		"a b": false, "a/b": false, "a:b": false, "a,b": false, "@a": false, "ä": false, "a\n": false, "a\x00": false, "a\xff": false, "%2e": false,
	} {
		err := shoal.CheckID("body.id", id)
		if (err == nil) != ok {
			t.Errorf("CheckID(%q) = %v, want it accepted: %v", id, err, ok)
		}
		if err != nil && (!errors.Is(err, shoal.InvalidArgument) || !strings.HasPrefix(err.Error(), "invalid_argument: body.id ")) {
			t.Errorf("CheckID(%q) = %q; it must name the field", id, err)
		}
	}
}

// An accepted id is valid in a path, a header and a table of ids; nothing
// makes the check panic.
func FuzzCheckID(f *testing.F) {
	for _, seed := range []string{"", "a", "system", "..", "a b", "\xff", strings.Repeat("a", 65)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if shoal.CheckID("id", id) != nil {
			return
		}
		if id == "" || len(id) > 64 || id == "system" || strings.Trim(id, ".") == "" && len(id) < 3 {
			t.Errorf("%q is accepted", id)
		}
		for _, c := range id {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", c) {
				t.Errorf("%q is accepted with %q", id, c)
			}
		}
	})
}
