package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func storedBlock(run, text string) storage.Block {
	turn := fmt.Sprintf(`{"turn":{"input":[{"role":"user","parts":[{"type":"text","text":%q}]}]}}`, text)
	return storage.Block{Run: shoal.RunID(run), Turn: json.RawMessage(turn)}
}

// A block is decoded once for all runs that read it, and again when its stored form has
// changed, as by the deletion of a message.
func TestBlocksAreDecodedOnce(t *testing.T) {
	c := NewCache()
	read := func(b storage.Block) block {
		t.Helper()
		out, err := c.decode(b)
		if err != nil || out.inputs != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out
	}
	first, again := read(storedBlock("run_1", "secret")), read(storedBlock("run_1", "secret"))
	if &first.messages[0] != &again.messages[0] {
		t.Error("the block is decoded twice, want once")
	}
	for _, b := range []storage.Block{storedBlock("run_1", "gone"), storedBlock("run_2", "secret")} {
		if out := read(b); &out.messages[0] == &first.messages[0] {
			t.Errorf("%s %s is read from the cache, want it decoded", b.Run, b.Turn)
		}
	}
	if text := read(storedBlock("run_1", "gone")).messages[0].Text(); text != "gone" {
		t.Errorf("the changed block is %q, want %q", text, "gone")
	}
	split, whole := storage.Block{Run: "run_3", Steps: []json.RawMessage{[]byte("ab"), []byte("c")}}, storage.Block{Run: "run_3", Steps: []json.RawMessage{[]byte("a"), []byte("bc")}}
	a, _ := c.key(split)
	if b, _ := c.key(whole); a == b {
		t.Error("steps that are divided differently have the same key")
	}
	if _, err := c.decode(storage.Block{Run: "run_4", Turn: json.RawMessage("{")}); err == nil {
		t.Error("a truncated block decodes without an error")
	}
}

// The cache is bounded: the least recently used block is dropped.
func TestBlockCacheIsBounded(t *testing.T) {
	c := NewCache()
	text := string(bytes.Repeat([]byte("x"), 1<<20))
	for i := range 40 {
		for _, name := range []string{"hot", fmt.Sprint("run_", i)} {
			if _, err := c.decode(storedBlock(name, text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.bytes > maxCachedBytes || len(c.found) != c.used.Len() || len(c.found) < 10 {
		t.Errorf("%d blocks of %d bytes are cached", len(c.found), c.bytes)
	}
	key, _ := c.key(storedBlock("hot", text))
	if _, there := c.get(key); !there {
		t.Error("a block in constant use was dropped")
	}
	if _, err := c.decode(storedBlock("huge", string(bytes.Repeat([]byte("x"), maxCachedBytes)))); err != nil || c.bytes > maxCachedBytes {
		t.Errorf("after a huge block %d bytes are cached, %v", c.bytes, err)
	}
}
