package guard

import "bytes"

// fewKeys is how many keys of one object are compared with each other before a
// map takes over. Comparing a few is faster than hashing them and allocates
// nothing; the bound keeps the whole scan linear.
const fewKeys = 16

// keySet is the keys of one open object, decoded: those of the stack from first
// on, and once they are more than fewKeys all of them in many.
type keySet struct {
	first int
	many  map[string]struct{}
}

// add adds a key to the set of the innermost open object and reports whether it
// was new. The stack is the one that all sets of a scan share.
func (k *keySet) add(stack *keyStack, key []byte) bool {
	if k.many != nil {
		before := len(k.many)
		k.many[string(key)] = struct{}{}
		return len(k.many) > before
	}
	for i := k.first; i < stack.len; i++ {
		if bytes.Equal(stack.at(i), key) {
			return false
		}
	}
	if stack.push(key); stack.len-k.first > fewKeys {
		k.many = make(map[string]struct{}, 2*fewKeys)
		for i := k.first; i < stack.len; i++ {
			k.many[string(stack.at(i))] = struct{}{}
		}
	}
	return true
}

// keyStack holds the keys of all open objects that have few, the outermost
// object's first. Its first places are part of it, so that a usual text needs
// no memory but the scanner's own.
type keyStack struct {
	len   int
	inner [32][]byte
	outer [][]byte
}

func (s *keyStack) push(key []byte) {
	if s.len < len(s.inner) {
		s.inner[s.len] = key
	} else {
		s.outer = append(s.outer[:s.len-len(s.inner)], key)
	}
	s.len++
}

func (s *keyStack) at(i int) []byte {
	if i < len(s.inner) {
		return s.inner[i]
	}
	return s.outer[i-len(s.inner)]
}
