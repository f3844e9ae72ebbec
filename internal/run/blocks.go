package run

import (
	"container/list"
	"hash/maphash"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// mostCached is how many bytes of blocks, as they are stored, are kept decoded. Decoded
// they take two to three times as much.
const mostCached = 16 << 20

// blockCache keeps blocks of conversations decoded. A run reads up to maxBlocks of them,
// and hundreds of runs of one conversation may begin at once: they share what they read,
// which nobody changes. Blocks are found by what is stored, so that one that was deleted
// or cut there is decoded anew. It is safe for concurrent use.
type blockCache struct {
	seed maphash.Seed

	mu    sync.Mutex
	found map[blockKey]*list.Element // of *cachedBlock
	used  *list.List                 // the latest first
	bytes int
}

type blockKey struct {
	run shoal.RunID
	sum uint64
}

type cachedBlock struct {
	key   blockKey
	block block
	bytes int
}

func newBlockCache() *blockCache {
	return &blockCache{seed: maphash.MakeSeed(), found: map[blockKey]*list.Element{}, used: list.New()}
}

// decode is decodeBlock.
func (c *blockCache) decode(b hub.Block) (block, error) {
	key, size := c.key(b)
	if found, ok := c.get(key); ok {
		return found, nil
	}
	out, err := decodeBlock(b)
	if err == nil {
		c.put(&cachedBlock{key, out, size})
	}
	return out, err
}

func (c *blockCache) key(b hub.Block) (key blockKey, size int) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, text := range append([][]byte{b.Turn}, rawSteps(b)...) {
		_, _ = h.Write(text) // documented to never fail
		_ = h.WriteByte(0)
		size += len(text)
	}
	return blockKey{b.Run, h.Sum64()}, size
}

func rawSteps(b hub.Block) [][]byte {
	out := make([][]byte, len(b.Steps))
	for i, step := range b.Steps {
		out[i] = step
	}
	return out
}

func (c *blockCache) get(key blockKey) (block, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.found[key]
	if !ok {
		return block{}, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*cachedBlock).block, true
}

func (c *blockCache) put(b *cachedBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found[b.key] != nil || b.bytes > mostCached/4 {
		return
	}
	c.found[b.key] = c.used.PushFront(b)
	for c.bytes += b.bytes; c.bytes > mostCached; {
		last := c.used.Back()
		gone := c.used.Remove(last).(*cachedBlock)
		delete(c.found, gone.key)
		c.bytes -= gone.bytes
	}
}
