// Package frametest writes messages of application/vnd.amazon.eventstream for tests.
package frametest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
)

// typeString is the type of the headers that [Message] writes.
const typeString = 7

// Message writes a message with headers (name, value, …) of type string.
func Message(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(h, byte(len(headers[i])))
		h = append(append(h, headers[i]...), typeString)
		h = append(binary.BigEndian.AppendUint16(h, uint16(len(headers[i+1]))), headers[i+1]...)
	}
	return Raw(h, []byte(payload))
}

// Raw writes a message with the bytes of its headers, and with right lengths and checksums.
func Raw(headers, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Chunk writes an event of a model as Bedrock does.
func Chunk(event string) []byte {
	payload, err := json.Marshal(map[string]string{"bytes": base64.StdEncoding.EncodeToString([]byte(event)), "p": "abcdefgh"})
	if err != nil {
		panic(err) // strings are always JSON
	}
	return Message(string(payload), ":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

// Exception writes a failure in mid-stream as Bedrock does.
func Exception(kind, message string) []byte {
	payload, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		panic(err) // strings are always JSON
	}
	return Message(string(payload), ":exception-type", kind, ":content-type", "application/json", ":message-type", "exception")
}
