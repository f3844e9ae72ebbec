package history

import (
	"container/list"
	"hash/maphash"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// maxCachedBytes is how many bytes of blocks, in their stored form, a cache keeps
// decoded. Decoded they need two to three times as much memory.
const maxCachedBytes = 16 << 20

// Cache decodes the blocks of conversations and keeps the latest decoded. A run reads up
// to maxBlocks of them, and hundreds of runs of one conversation may begin at once: they
// share the decoded blocks, which nobody changes. The key of a block is a hash of its
// stored form, so that a block is decoded again when a message in it was deleted. A
// Cache is safe for concurrent use.
type Cache struct {
	seed maphash.Seed

	mu    sync.Mutex
	found map[blockKey]*list.Element // of *cachedBlock
	used  *list.List                 // most recently used first
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

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{seed: maphash.MakeSeed(), found: map[blockKey]*list.Element{}, used: list.New()}
}

// decode is decodeBlock with the cache.
func (c *Cache) decode(b storage.Block) (block, error) {
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

func (c *Cache) key(b storage.Block) (key blockKey, size int) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, text := range append([][]byte{b.Turn}, rawSteps(b)...) {
		_, _ = h.Write(text) // documented to never fail
		_ = h.WriteByte(0)
		size += len(text)
	}
	return blockKey{b.Run, h.Sum64()}, size
}

func rawSteps(b storage.Block) [][]byte {
	out := make([][]byte, len(b.Steps))
	for i, step := range b.Steps {
		out[i] = step
	}
	return out
}

func (c *Cache) get(key blockKey) (block, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.found[key]
	if !ok {
		return block{}, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*cachedBlock).block, true
}

func (c *Cache) put(b *cachedBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found[b.key] != nil || b.bytes > maxCachedBytes/4 {
		return
	}
	c.found[b.key] = c.used.PushFront(b)
	for c.bytes += b.bytes; c.bytes > maxCachedBytes; {
		last := c.used.Back()
		gone := c.used.Remove(last).(*cachedBlock)
		delete(c.found, gone.key)
		c.bytes -= gone.bytes
	}
}
