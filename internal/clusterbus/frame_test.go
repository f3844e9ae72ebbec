package clusterbus

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

var (
	testKey    = []byte("the secret of the cluster")
	testSender = sender{1, 2, 3, 4, 5, 6, 7, 8}
)

// notificationsOf returns what a frame decodes to.
func notificationsOf(t testing.TB, raw []byte) (out []core.Notification) {
	t.Helper()
	f, err := decodeFrame(testKey, raw)
	if err == nil {
		err = f.decodeItems(func(n core.Notification) { out = append(out, n) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFrame(t *testing.T) {
	raw := encodeFrame(testKey, testSender, 300, []item{
		{topics: []string{"inbox/s/ann"}, place: 1 << 40},
		{topics: []string{"space/s/shop", "session/s"}, event: []byte("delta\n{}")},
		{topics: []string{"run/s/r"}, missed: true},
		{topics: []string{"empty"}, event: []byte{}},
	})
	f, err := decodeFrame(testKey, raw)
	if err != nil || f.from != testSender || f.number != 300 {
		t.Fatalf("got the head %+v, %v", f, err)
	}
	want := []core.Notification{
		{Topic: "inbox/s/ann", Place: 1 << 40, Remote: true},
		{Topic: "space/s/shop", Event: []byte("delta\n{}"), Remote: true},
		{Topic: "session/s", Event: []byte("delta\n{}"), Remote: true},
		{Topic: "run/s/r", Missed: true, Remote: true},
		{Topic: "empty", Event: []byte{}, Remote: true},
	}
	if got := notificationsOf(t, raw); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A frame that is damaged anywhere, or that was made with another key, is refused.
func TestFrameIsRefused(t *testing.T) {
	raw := encodeFrame(testKey, testSender, 1, []item{{topics: []string{"a"}}})
	for i := range raw {
		other := bytes.Clone(raw)
		other[i] ^= 1
		if _, err := decodeFrame(testKey, other); err == nil {
			t.Errorf("a frame whose byte %d was changed is accepted", i)
		}
		if _, err := decodeFrame(testKey, raw[:i]); err == nil {
			t.Errorf("the first %d bytes of a frame are accepted", i)
		}
	}
	if _, err := decodeFrame([]byte("another secret"), raw); err == nil {
		t.Error("a frame of another cluster is accepted")
	}
}

// Whatever the items of a frame are, decoding them ends, and what it accepts has a topic.
func FuzzItems(f *testing.F) {
	f.Add(encodeFrame(testKey, testSender, 1, []item{{topics: []string{"a", "b"}, place: 3, event: []byte("x")}})[codeBytes+1+senderBytes+1:])
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, items []byte) {
		seen := 0
		err := frame{items: items}.decodeItems(func(n core.Notification) {
			seen++
			if !n.Remote {
				t.Errorf("got a notification that is not remote: %+v", n)
			}
		})
		if err == nil && len(items) == 0 && seen > 0 || seen > len(items) {
			t.Errorf("%d bytes are %d notifications", len(items), seen)
		}
	})
}

// The outbox sends the events of a topic in order, joins its notifications, and never sends a
// frame that is too large.
func TestOutbox(t *testing.T) {
	const size = 100
	o := newOutbox()
	o.add(core.Notification{Topic: "a", Place: 1})
	o.add(core.Notification{Topic: "a", Event: []byte("first")})
	o.add(core.Notification{Topic: "a", Place: 5})
	o.add(core.Notification{Topic: "b", Event: []byte(strings.Repeat("x", 2*size))})
	o.add(core.Notification{Topic: "a", Event: []byte("second")})
	o.add(core.Notification{Topic: "a", Place: 3})
	var got []string
	for {
		next := o.take(size)
		if len(next.items) == 0 {
			break
		}
		raw := encodeFrame(testKey, testSender, 1, next.items)
		if len(raw) > size+headBytes {
			t.Errorf("a frame has %d bytes", len(raw))
		}
		for _, n := range notificationsOf(t, raw) {
			what := n.Topic + ":" + string(n.Event)
			if n.Event == nil {
				what = n.Topic + "@" + string(rune('0'+n.Place))
			}
			if n.Missed {
				what += "!"
			}
			got = append(got, what)
		}
	}
	if want := "a@5 a:first b@0! a:second"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
}

// Too many topics empty the outbox, and the number of the next frame is left out.
func TestOutboxOverflows(t *testing.T) {
	o := newOutbox()
	for n := range maxOutTopics + 1 {
		o.add(core.Notification{Topic: fmt.Sprint(n)})
	}
	if next := o.take(1 << 20); !next.overflow {
		t.Error("the overflow is not reported")
	}
	if next := o.take(1 << 20); next.overflow {
		t.Error("the overflow is reported twice")
	}
}
