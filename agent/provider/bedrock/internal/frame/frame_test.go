package frame_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/frame"
	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/frametest"
)

const most = 1 << 20

// unhex reads the vectors that AWS publishes with its SDKs.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMessages(t *testing.T) {
	all := "\x01t\x00" + "\x01f\x01" + "\x01b\x02x" + "\x01s\x03xx" + "\x01i\x04xxxx" + "\x01l\x05xxxxxxxx" + "\x01a\x06\x00\x02xx" + "\x01S\x07\x00\x03abc" + "\x01T\x08xxxxxxxx" + "\x01u\x09xxxxxxxxxxxxxxxx"
	for name, c := range map[string]struct {
		data    []byte
		headers map[string]string
		payload string
	}{
		"empty":           {unhex(t, "00000010 00000000 05c248eb 7d98c8ff"), nil, ""},
		"payload":         {unhex(t, "0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653936"), nil, `{'foo':'bar'}`},
		"string header":   {frametest.Message("p", ":message-type", "event"), map[string]string{":message-type": "event"}, "p"},
		"all types":       {frametest.Raw([]byte(all), []byte("p")), map[string]string{"S": "abc"}, "p"},
		"an empty string": {frametest.Message("", "a", ""), map[string]string{"a": ""}, ""},
		"long":            {frametest.Message(strings.Repeat("x", 300_000)), nil, strings.Repeat("x", 300_000)},
	} {
		for _, src := range []io.Reader{bytes.NewReader(append(c.data, c.data...)), iotest.OneByteReader(bytes.NewReader(append(c.data, c.data...)))} {
			r := frame.NewReader(src, most)
			for range 2 {
				m, err := r.Next()
				if err != nil || string(m.Payload) != c.payload || !maps.Equal(m.Headers, c.headers) {
					t.Errorf("%s: %q %q, %v", name, m.Headers, m.Payload, err)
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("%s: error %v at the end, want EOF", name, err)
			}
		}
	}
}

// lengths writes a beginning with any lengths and the right checksum.
func lengths(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, total), headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestMalformedMessages(t *testing.T) {
	good := frametest.Message("payload", "name", "value")
	for i := range good { // every byte is protected by a checksum
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		if m, err := frame.NewReader(bytes.NewReader(bad), most).Next(); !errors.Is(err, frame.ErrMalformed) || m.Payload != nil && m.Headers != nil {
			t.Errorf("byte %d changed: %v, %v", i, m, err)
		}
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		if _, err := frame.NewReader(bytes.NewReader(good[:i]), most).Next(); !errors.Is(err, want) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"shorter than itself":        {lengths(15, 0), frame.ErrMalformed},
		"headers beyond the end":     {lengths(20, 5), frame.ErrMalformed},
		"headers that overflow":      {lengths(20, 0xFFFFFFFF), frame.ErrMalformed},
		"longer than the bound":      {lengths(most+1, 0), frame.ErrTooLong},
		"as long as can be":          {lengths(0xFFFFFFFF, 0), frame.ErrTooLong},
		"headers beyond their bound": {lengths(most, frame.MaxHeaders+1), frame.ErrTooLong},
		"no name":                    {frametest.Raw([]byte("\x00\x00"), nil), frame.ErrMalformed},
		"no type":                    {frametest.Raw([]byte("\x01a"), nil), frame.ErrMalformed},
		"an unknown type":            {frametest.Raw([]byte("\x01a\x0a\x00\x00"), nil), frame.ErrMalformed},
		"no length":                  {frametest.Raw([]byte("\x01a\x07\x00"), nil), frame.ErrMalformed},
		"a value beyond the end":     {frametest.Raw([]byte("\x01a\x07\x00\x02x"), nil), frame.ErrMalformed},
		"a name beyond the end":      {frametest.Raw([]byte("\x09a\x07"), nil), frame.ErrMalformed},
		"a name twice":               {frametest.Raw([]byte("\x01a\x00\x01a\x00"), nil), frame.ErrMalformed},
	} {
		if _, err := frame.NewReader(bytes.NewReader(c.data), most).Next(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A length is not trusted: memory is taken for what has come.
func TestMemoryFollowsTheBytes(t *testing.T) {
	promised := append(lengths(256<<20, 0), 'x')
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := frame.NewReader(bytes.NewReader(promised), 1<<30).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("%d bytes of memory for a message of %d bytes", used, len(promised))
	}
}

// Whatever the bytes are, the reader ends, and what it returns is a message again.
func FuzzReader(f *testing.F) {
	f.Add(append(frametest.Chunk(`{"type":"ping"}`), frametest.Exception("throttlingException", "slow")...))
	f.Add(frametest.Message("", "a", "b", "c", "d"))
	f.Add(lengths(20, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := bytes.NewReader(data)
		r := frame.NewReader(src, most)
		for read := 0; ; {
			m, err := r.Next()
			if err != nil {
				return
			}
			length := len(data) - src.Len() - read
			if length < 16+len(m.Payload) {
				t.Fatalf("%d bytes hold a payload of %d", length, len(m.Payload))
			}
			again, err := frame.NewReader(bytes.NewReader(data[read:read+length]), most).Next()
			if err != nil || !bytes.Equal(again.Payload, m.Payload) || !maps.Equal(again.Headers, m.Headers) {
				t.Fatalf("read alone it is %v, %v", again, err)
			}
			read += length
		}
	})
}
