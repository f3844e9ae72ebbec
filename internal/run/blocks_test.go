package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

func storedBlock(run, text string) hub.Block {
	turn := fmt.Sprintf(`{"turn":{"input":[{"role":"user","parts":[{"type":"text","text":%q}]}]}}`, text)
	return hub.Block{Run: shoal.RunID(run), Turn: json.RawMessage(turn)}
}

// A block is decoded once for all runs that read it, and anew when what is stored of it
// has changed, as by the deletion of a message.
func TestBlocksAreDecodedOnce(t *testing.T) {
	c := newBlockCache()
	read := func(b hub.Block) block {
		t.Helper()
		out, err := c.decode(b)
		if err != nil || out.inputs != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out
	}
	first, again := read(storedBlock("run_1", "secret")), read(storedBlock("run_1", "secret"))
	if &first.messages[0] != &again.messages[0] {
		t.Error("it is decoded twice")
	}
	for _, b := range []hub.Block{storedBlock("run_1", "gone"), storedBlock("run_2", "secret")} {
		if out := read(b); &out.messages[0] == &first.messages[0] {
			t.Errorf("%s %s is taken for another one", b.Run, b.Turn)
		}
	}
	if text := read(storedBlock("run_1", "gone")).messages[0].Text(); text != "gone" {
		t.Errorf("the changed block says %q", text)
	}
	split, whole := hub.Block{Run: "run_3", Steps: []json.RawMessage{[]byte("ab"), []byte("c")}}, hub.Block{Run: "run_3", Steps: []json.RawMessage{[]byte("a"), []byte("bc")}}
	a, _ := c.key(split)
	if b, _ := c.key(whole); a == b {
		t.Error("steps that are cut differently have one key")
	}
	if _, err := c.decode(hub.Block{Run: "run_4", Turn: json.RawMessage("{")}); err == nil {
		t.Error("half a block is read")
	}
}

// The cache has a bound: what was read longest ago goes.
func TestBlockCacheIsBounded(t *testing.T) {
	c := newBlockCache()
	text := string(bytes.Repeat([]byte("x"), 1<<20))
	for i := range 40 {
		for _, name := range []string{"kept", fmt.Sprint("run_", i)} {
			if _, err := c.decode(storedBlock(name, text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.bytes > mostCached || len(c.found) != c.used.Len() || len(c.found) < 10 {
		t.Errorf("%d blocks of %d bytes are kept", len(c.found), c.bytes)
	}
	key, _ := c.key(storedBlock("kept", text))
	if _, there := c.get(key); !there {
		t.Error("what is read again and again is gone")
	}
	if _, err := c.decode(storedBlock("huge", string(bytes.Repeat([]byte("x"), mostCached)))); err != nil || c.bytes > mostCached {
		t.Errorf("after a huge one %d bytes are kept, %v", c.bytes, err)
	}
}
