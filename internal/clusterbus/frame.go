package clusterbus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// A frame is, in this order:
//
//	code     16 bytes, the beginning of the HMAC-SHA256 of the rest
//	version   1 byte
//	sender    8 bytes, which identify one start of one server
//	number    uvarint, counts the frames of the sender from 1
//	items     to the end: the notifications
//
// An item is its topics (their number as a uvarint, then each with its length), the place
// (uvarint), the flags (1 byte), and the event with its length if the flags say so.
const (
	codeBytes    = 16
	frameVersion = 1
	senderBytes  = 8
	headBytes    = codeBytes + 1 + senderBytes + binary.MaxVarintLen64
)

// Flags of an item.
const (
	itemHasEvent = 1 << iota
	itemMissed
)

// sender identifies one start of one server.
type sender [senderBytes]byte

// nodeID returns the id of the server.
func (s sender) nodeID() shoal.NodeID {
	return shoal.NodeID(shoal.PrefixNode + hex.EncodeToString(s[:]))
}

// senderOf returns the sender with an id, or zero, which no server has, for one that is not from
// nodeID.
func senderOf(id shoal.NodeID) (s sender) {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(id), shoal.PrefixNode))
	if err == nil && len(raw) == senderBytes {
		copy(s[:], raw)
	}
	return s
}

// item is a notification for several topics.
type item struct {
	topics []string
	place  int64
	event  []byte
	missed bool
}

// size returns an upper bound of the bytes that the item needs in a frame.
func (i item) size() int {
	n := 3*binary.MaxVarintLen64 + 1 + len(i.event)
	for _, t := range i.topics {
		n += binary.MaxVarintLen32 + len(t)
	}
	return n
}

// appendTo appends the item to a frame.
func (i item) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(i.topics)))
	for _, t := range i.topics {
		b = appendBytes(b, t)
	}
	b = binary.AppendUvarint(b, uint64(i.place))
	flags := byte(0)
	if i.event != nil {
		flags |= itemHasEvent
	}
	if i.missed {
		flags |= itemMissed
	}
	if b = append(b, flags); i.event != nil {
		b = appendBytes(b, string(i.event))
	}
	return b
}

func appendBytes(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// encodeFrame returns a frame with the given items.
func encodeFrame(key []byte, from sender, number uint64, items []item) []byte {
	b := make([]byte, codeBytes, 512)
	b = append(b, frameVersion)
	b = append(b, from[:]...)
	b = binary.AppendUvarint(b, number)
	for _, i := range items {
		b = i.appendTo(b)
	}
	copy(b, codeOf(key, b[codeBytes:]))
	return b
}

func codeOf(key, rest []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(rest)
	return h.Sum(nil)[:codeBytes]
}

// clusterName returns a name for the cluster with a key, which does not reveal the key.
func clusterName(key []byte) string { return hex.EncodeToString(codeOf(key, []byte("name"))) }

// frame is a frame that was received. items is the rest of its bytes, for decodeItems.
type frame struct {
	from   sender
	number uint64
	items  []byte
}

var errFrame = errors.New("the frame is damaged, of another version or of another cluster")

// decodeFrame checks a frame and decodes its head.
func decodeFrame(key, b []byte) (f frame, err error) {
	if len(b) < codeBytes+1+senderBytes || !hmac.Equal(b[:codeBytes], codeOf(key, b[codeBytes:])) || b[codeBytes] != frameVersion {
		return f, errFrame
	}
	r := reader{rest: b[codeBytes+1:]}
	copy(f.from[:], r.take(senderBytes))
	f.number = r.uvarint()
	f.items = r.rest
	if r.failed {
		return f, errFrame
	}
	return f, nil
}

// decodeItems calls publish with each notification of a frame. The events are copies.
func (f frame) decodeItems(publish func(core.Notification)) error {
	r := reader{rest: f.items}
	for len(r.rest) > 0 && !r.failed {
		topics := make([]string, 0, 3)
		for n := r.count(); n > 0 && !r.failed; n-- {
			topics = append(topics, string(r.take(r.count())))
		}
		n := core.Notification{Place: int64(r.uvarint()), Remote: true}
		flags := r.byte()
		n.Missed = flags&itemMissed != 0
		if flags&itemHasEvent != 0 {
			n.Event = append([]byte{}, r.take(r.count())...)
		}
		if r.failed {
			break
		}
		for _, n.Topic = range topics {
			publish(n)
		}
	}
	if r.failed {
		return errFrame
	}
	return nil
}

// reader reads the parts of a frame. After a part that is not there, failed is set and
// everything else is empty.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n > len(r.rest) {
		r.failed, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.take(len(r.rest) + 1)
		return 0
	}
	r.take(n)
	return v
}

// count reads a number of things that each need at least one byte.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.take(len(r.rest) + 1)
		return 0
	}
	return int(n)
}

func (r *reader) byte() byte {
	b := r.take(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}
