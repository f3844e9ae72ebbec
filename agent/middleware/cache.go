package middleware

import (
	"container/list"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

// Cache answers requests that were answered before from memory: at most entries of them,
// those that were used last. It panics if entries is not positive.
//
// A request is the same if the model would read the same: instructions, history, tools and
// settings. The name of the model is not compared, so give each model a Cache of its own.
// Complete answers are kept, with their pieces, and not those that failed, were cut off at
// their limit, filtered or paused. An answer from the cache costs nothing and counts no
// tokens. Answers are kept until they are evicted, and the calls of tools in them run
// again. Concurrent equal requests each call the model. A Cache is safe for concurrent use
// by any number of agents.
func Cache(entries int) agent.Middleware {
	if entries < 1 {
		panic("middleware.Cache: entries must be positive")
	}
	c := &cache{most: entries, byKey: map[string]*list.Element{}}
	return agent.Middleware{Name: "cache", Model: c.wrap}
}

// cache is a list of answers, the one that was used last first.
type cache struct {
	most int

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List
}

type cachedAnswer struct {
	key    string
	chunks []agent.Chunk
}

func (c *cache) wrap(next agent.ModelFunc) agent.ModelFunc {
	return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
		key, err := fingerprint(req)
		if err != nil {
			return next(ctx, req) // it cannot be compared
		}
		if chunks := c.find(key); chunks != nil {
			return replayed(ctx, chunks, nil)
		}
		return c.filled(next(ctx, req), key)
	}
}

func (c *cache) find(key string) []agent.Chunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedAnswer).chunks
}

// filled passes on an answer and keeps it when it is complete.
func (c *cache) filled(answer iter.Seq2[agent.Chunk, error], key string) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		var chunks []agent.Chunk
		for chunk, err := range answer {
			if err == nil && chunk.Kind != agent.ChunkUsage {
				chunks = append(chunks, owned(chunk))
			}
			if err == nil && chunk.Kind == agent.ChunkFinish && (chunk.Reason == agent.FinishStop || chunk.Reason == agent.FinishCalls) {
				c.put(key, chunks)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// owned returns a chunk without references to the provider's memory.
func owned(c agent.Chunk) agent.Chunk {
	c.Opaque = slices.Clone(c.Opaque)
	if c.Citation != nil {
		citation := *c.Citation
		c.Citation = &citation
	}
	if c.Usage != nil {
		usage := *c.Usage
		c.Usage = &usage
	}
	if c.Model != nil {
		info := *c.Model
		c.Model = &info
	}
	return c
}

func (c *cache) put(key string, chunks []agent.Chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.order.MoveToFront(e)
		return
	}
	c.byKey[key] = c.order.PushFront(&cachedAnswer{key: key, chunks: chunks})
	if c.order.Len() > c.most {
		oldest := c.order.Back()
		delete(c.byKey, c.order.Remove(oldest).(*cachedAnswer).key)
	}
}

// replayed yields chunks, and then the error if it is not nil.
func replayed(ctx context.Context, chunks []agent.Chunk, end error) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for _, c := range chunks {
			if ctx.Err() != nil {
				yield(agent.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if end != nil {
			yield(agent.Chunk{}, end)
		}
	}
}
