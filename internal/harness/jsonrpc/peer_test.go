package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/jsonrpc"
)

// Messages are handled in the order of their lines, answers among them. Other lines
// are skipped, and what was not answered fails with the end of the input.
func TestPeer(t *testing.T) {
	var out bytes.Buffer
	var seen []string
	var peer *jsonrpc.Peer
	peer = jsonrpc.New(&out, "2.0", func(m jsonrpc.Message) {
		seen = append(seen, m.Method+" "+string(m.ID)+string(m.Params))
		if m.Method == "ask" {
			if err := peer.Respond(m.ID, "yes"); err != nil {
				t.Error(err)
			}
		}
		if m.Method == "unknown" {
			if err := peer.Refuse(m.ID, jsonrpc.MethodNotFound, "no such method"); err != nil {
				t.Error(err)
			}
		}
	})
	note := func(name string) jsonrpc.Then {
		return func(result json.RawMessage, err error) {
			text := name + " " + string(result)
			if err != nil {
				text += err.Error()
			}
			seen = append(seen, text)
		}
	}
	for _, name := range []string{"first", "second", "third"} {
		if err := peer.Go(name, map[string]int{"n": 1}, note(name)); err != nil {
			t.Fatal(err)
		}
	}
	err := peer.Read(strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","method":"news","params":{"a":1}}`,
		`warning: not a message`,
		`{"jsonrpc":"2.0","id":2,"result":{"b":2}}`,
		`{"jsonrpc":"2.0","id":"x","method":"ask"}`,
		`{"jsonrpc":"2.0","id":0,"method":"unknown"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"it does not want to"}}`,
		`{"jsonrpc":"2.0","id":99,"result":"of a call that nobody has made"}`,
		`{"jsonrpc":"2.0","id":null,"method":"late"}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		`news {"a":1}`, `second {"b":2}`, `ask "x"`, `unknown 0`, `first it does not want to`, `late `,
		`third the coding agent has closed its output`,
	}, seen); diff != "" {
		t.Errorf("what was handled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"first","params":{"n":1}}`,
		`{"jsonrpc":"2.0","id":2,"method":"second","params":{"n":1}}`,
		`{"jsonrpc":"2.0","id":3,"method":"third","params":{"n":1}}`,
		`{"jsonrpc":"2.0","id":"x","result":"yes"}`,
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no such method"}}`,
		``,
	}, "\n"), out.String()); diff != "" {
		t.Errorf("what was written (-want +got):\n%s", diff)
	}
	if err := peer.Go("late", nil, note("late")); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("a call after the end: %v, want ErrClosed", err)
	}
}

// A message that is longer than any should be ends the connection.
func TestPeerBoundsMessages(t *testing.T) {
	peer := jsonrpc.New(io.Discard, "2.0", func(jsonrpc.Message) {})
	if err := peer.Read(io.LimitReader(zeros{}, 17<<20)); err == nil {
		t.Error("a line of 17 MiB was read")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}
