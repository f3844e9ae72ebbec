package promptcache

import (
	"crypto/sha256"
	"slices"
)

// bytesPerToken is how many bytes of JSON are a token.
const bytesPerToken = 4

// rules are how a vendor's cache works.
type rules struct {
	// least is the shortest beginning that is cached, in tokens.
	least int
	// step divides the prompt into pieces of so many tokens; with 0 its pieces are the segments.
	step int
	// lookback is how many segments before a mark a stored beginning is looked for. With 0 every
	// beginning is stored, and marks have no meaning.
	lookback int
}

// cache are the beginnings that a model was sent.
type cache struct {
	rules rules
	known map[[32]byte]bool // hashes of beginnings
}

// count sets the tokens of a request, and stores its beginnings.
func (c *cache) count(req *Request) {
	size := 0
	for _, s := range req.Segments {
		size += len(s)
	}
	req.Tokens = int64(size / bytesPerToken)
	ends, hashes := c.beginnings(req.Segments)
	found := func(i int) bool { return c.known[hashes[i]] }
	best := -1
	if c.rules.lookback == 0 {
		for i := range hashes {
			if found(i) {
				best = i
			}
		}
	} else {
		for _, mark := range slices.Backward(req.marks) {
			for i := mark; i >= max(0, mark-c.rules.lookback) && best < 0; i-- {
				if found(i) {
					best = i
				}
			}
		}
	}
	if best >= 0 {
		req.Cached = int64(ends[best] / bytesPerToken)
	}
	for i, hash := range hashes {
		if ends[i] >= c.rules.least*bytesPerToken && (c.rules.lookback == 0 || slices.Contains(req.marks, i)) {
			c.known[hash] = true
		}
	}
}

// beginnings returns where the beginnings of a prompt end, in bytes, and their hashes.
func (c *cache) beginnings(segments []string) (ends []int, hashes [][32]byte) {
	var last [32]byte
	end := 0
	add := func(piece []byte) {
		last = sha256.Sum256(append(last[:], piece...))
		end += len(piece)
		ends, hashes = append(ends, end), append(hashes, last)
	}
	if c.rules.step == 0 {
		for _, s := range segments {
			add([]byte(s))
		}
		return ends, hashes
	}
	var all []byte
	for _, s := range segments {
		all = append(all, s...)
	}
	for piece := range slices.Chunk(all, c.rules.step*bytesPerToken) {
		if len(piece) == c.rules.step*bytesPerToken {
			add(piece)
		}
	}
	return ends, hashes
}
