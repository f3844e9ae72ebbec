package searchsql

import (
	"math"
	"math/bits"
)

// blockSize is the number of messages in a block of the search index. Two characters of base64
// are the number of a message in its block.
const blockSize = 1 << 12

const docAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// docValues are the values of the characters of docAlphabet.
var docValues = func() (values [256]uint16) {
	for i := range len(docAlphabet) {
		values[docAlphabet[i]] = uint16(i) //nolint:gosec // it is below 64
	}
	return values
}()

// appendDoc appends the number of a message in its block.
func appendDoc(docs []byte, doc int64) []byte {
	at := doc % blockSize
	return append(docs, docAlphabet[at>>6], docAlphabet[at&63])
}

// docSet is a set of messages of one block.
type docSet [blockSize / 64]uint64

// add adds messages that appendDoc wrote, in any order, possibly repeated.
func (s *docSet) add(docs string) {
	for i := 1; i < len(docs); i += 2 {
		at := docValues[docs[i-1]]<<6 | docValues[docs[i]]
		s[at>>6] |= 1 << (at & 63)
	}
}

// addAll adds all messages of the block.
func (s *docSet) addAll() {
	for i := range s {
		s[i] = math.MaxUint64
	}
}

func (s *docSet) addOne(doc int64) {
	at := doc % blockSize
	s[at>>6] |= 1 << (at & 63)
}

// union adds the messages of another set.
func (s *docSet) union(other *docSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// intersect removes the messages that are not in another set.
func (s *docSet) intersect(other *docSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// removeFrom removes the messages whose number in the block is n or higher.
func (s *docSet) removeFrom(n int64) {
	for i := range s {
		switch low := int64(i) * 64; {
		case n <= low:
			s[i] = 0
		case n < low+64:
			s[i] &= 1<<(n-low) - 1
		}
	}
}

func (s *docSet) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// newest appends the messages of the set, the newest first.
func (s *docSet) newest(docs []int64, block int64) []int64 {
	for i := len(s) - 1; i >= 0; i-- {
		for word := s[i]; word != 0; {
			top := 63 - bits.LeadingZeros64(word)
			word &^= 1 << top
			docs = append(docs, block*blockSize+int64(i)*64+int64(top))
		}
	}
	return docs
}
