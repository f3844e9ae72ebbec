// Package frame reads the binary events of AWS, application/vnd.amazon.eventstream.
//
// A message is its length, the length of its headers and a checksum of both (4 bytes each,
// the most significant first), then headers, payload and a checksum of all that comes before
// it. The reader is strict: a message whose lengths, checksums or headers are not right is
// [ErrMalformed], and nothing of it is returned.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// MaxHeaders bounds the headers of one message.
const MaxHeaders = 128 << 10

const (
	preludeBytes  = 12 // two lengths and their checksum
	checksumBytes = 4
	leastBytes    = preludeBytes + checksumBytes
)

// ErrMalformed says that the bytes are not a message.
var ErrMalformed = errors.New("a message of the event stream is malformed")

// ErrTooLong says that a message exceeds the bound of its reader, or its headers MaxHeaders.
var ErrTooLong = errors.New("a message of the event stream is too long")

// Message is one message. Both are valid until the next one is read.
type Message struct {
	// Headers has the values of the headers of type string. Others are checked and left out.
	Headers map[string]string
	Payload []byte
}

// Reader reads messages from a source.
type Reader struct {
	src  io.Reader
	most int
	buf  []byte
}

// NewReader returns a reader of messages of at most most bytes each. It reads no byte beyond
// the message that it returns, and keeps one message in memory.
func NewReader(src io.Reader, most int) *Reader { return &Reader{src: src, most: most} }

// Next returns the next message. Its error is io.EOF between two messages,
// io.ErrUnexpectedEOF within one, [ErrMalformed], [ErrTooLong], or that of the source; a
// reader that has returned an error cannot go on.
func (r *Reader) Next() (Message, error) {
	r.buf = append(r.buf[:0], make([]byte, preludeBytes)...)
	if _, err := io.ReadFull(r.src, r.buf); err != nil {
		return Message{}, err
	}
	total, headers := binary.BigEndian.Uint32(r.buf), binary.BigEndian.Uint32(r.buf[4:])
	switch {
	case crc32.ChecksumIEEE(r.buf[:8]) != binary.BigEndian.Uint32(r.buf[8:]):
		return Message{}, malformed("the checksum of the lengths is wrong")
	case total < leastBytes || headers > total-leastBytes:
		return Message{}, malformed("the lengths contradict each other")
	case int64(total) > int64(r.most) || headers > MaxHeaders:
		return Message{}, ErrTooLong
	}
	if err := r.fill(int(total)); err != nil {
		return Message{}, err
	}
	end := int(total) - checksumBytes
	if crc32.ChecksumIEEE(r.buf[:end]) != binary.BigEndian.Uint32(r.buf[end:]) {
		return Message{}, malformed("the checksum is wrong")
	}
	start := preludeBytes + int(headers)
	table, err := readHeaders(r.buf[preludeBytes:start])
	return Message{table, r.buf[start:end]}, err
}

// fill reads the message up to its length, in pieces: the memory follows what has come, not
// what the length promises.
func (r *Reader) fill(total int) error {
	const piece = 64 << 10
	for len(r.buf) < total {
		at := len(r.buf)
		r.buf = append(r.buf, make([]byte, min(piece, total-at))...)
		if _, err := io.ReadFull(r.src, r.buf[at:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// The types of headers.
const (
	typeTrue = iota
	typeFalse
	typeByte
	typeShort
	typeInt
	typeLong
	typeBytes
	typeString
	typeTime
	typeUUID
)

// sizes are those of the types with a fixed size.
var sizes = map[byte]int{typeTrue: 0, typeFalse: 0, typeByte: 1, typeShort: 2, typeInt: 4, typeLong: 8, typeTime: 8, typeUUID: 16}

func readHeaders(data []byte) (map[string]string, error) {
	table := map[string]string{}
	seen := map[string]bool{}
	for len(data) > 0 {
		named := 1 + int(data[0]) // the length and the name
		if named == 1 || len(data) < named+1 {
			return nil, malformed("a header has no name or no type")
		}
		name, kind := string(data[1:named]), data[named]
		data = data[named+1:]
		size, fixed := sizes[kind]
		if !fixed {
			if kind != typeBytes && kind != typeString || len(data) < 2 {
				return nil, malformed("a header has a wrong type or no length")
			}
			size = int(binary.BigEndian.Uint16(data))
			data = data[2:]
		}
		if size > len(data) || seen[name] {
			return nil, malformed("a header is cut short or occurs twice")
		}
		seen[name] = true
		if kind == typeString {
			table[name] = string(data[:size])
		}
		data = data[size:]
	}
	return table, nil
}

func malformed(why string) error { return fmt.Errorf("%w: %s", ErrMalformed, why) }
