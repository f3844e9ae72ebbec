package storecase

import (
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// RawJSON is JSON that must be preserved byte for byte: spaces, the order of keys, the
// format of numbers, and characters that need escaping in some format.
var RawJSON = []byte(`{ "b" : "<ü> & \u2028 ' \"; DROP TABLE runs; --  𝄞 \\u0000 $1 ?" , "a":1.50e+3,"a":[ ],"big":"` + strings.Repeat("é<", 100<<10) + `" }`)

// Hostile is a text with such characters.
const Hostile = "it's \"<b>\" & \u2028 \\ $1 ? 𝄞 '; DROP TABLE runs; --\r\n\t\x7f"

// ErrCaller is an error of the function that a test gives to the store.
var ErrCaller = errors.New("the caller's own error")

// Sequence returns the numbers from 1 to n.
func Sequence(n int64) (all []int64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// Ptr returns a pointer to v, for optional fields.
func Ptr[T any](v T) *T { return &v }

// TrickyIDs are in byte order, which differs from a linguistic order.
var TrickyIDs = []string{"-", ".x", "0", "10", "9", "A", "B", "Z", "_", "a", "a-b", "a.b", "aB", "a_b", "ab", "b", "z"}

// DeliveredNow returns deliveries of the entries at places to a wait, at [Time](0).
func DeliveredNow(places ...int64) (out []storage.DeliveredEntry) {
	for _, place := range places {
		out = append(out, storage.DeliveredEntry{Place: place, At: Time(0), Via: shoal.ViaWait})
	}
	return out
}
