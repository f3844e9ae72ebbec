package peer

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"
)

func TestRedisResponses(t *testing.T) {
	for response, want := range map[string][]string{
		"+PONG\r\n":         {"PONG"},
		":7\r\n":            {"7"},
		"$5\r\nab\r\nc\r\n": {"ab\r\nc"},
		"*1\r\n*2\r\n$5\r\npair0\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nm\r\n$2\r\nhi\r\n": {"pair0", "1-1", "m", "hi"},
		"*-1\r\n": nil,
	} {
		c := redisConn{in: bufio.NewReader(strings.NewReader(response))}
		if got, err := c.read(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", response, got, err, want)
		}
	}
	for _, response := range []string{"-ERR no\r\n", "$5\r\nab", "*2\r\n:1\r\n", "$x\r\n", "$9999999999\r\n", "\r\n", ""} {
		c := redisConn{in: bufio.NewReader(strings.NewReader(response))}
		if got, err := c.read(); err == nil {
			t.Errorf("%q: %q, want an error", response, got)
		}
	}
}

func TestNATSMessages(t *testing.T) {
	for response, want := range map[string]string{
		"+OK\r\nMSG to.0 2 5\r\nhello\r\n":                  "hello",
		"PING\r\n\r\nMSG to.0 2 some.reply 4\r\na\r\nb\r\n": "a\r\nb",
		"MSG to.0 2 0\r\n\r\n":                              "",
	} {
		if got, err := receiveNATS(t, response); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", response, got, err, want)
		}
	}
	for _, response := range []string{"-ERR 'no'\r\n", "HMSG _INBOX 1 10 10\r\n", "MSG to.0 2 x\r\n", "MSG to.0 2 -1\r\n", "MSG\r\n", "MSG to.0 2 9\r\nhi\r\n", ""} {
		if got, err := receiveNATS(t, response); err == nil {
			t.Errorf("%q: %q, want an error", response, got)
		}
	}
}

func receiveNATS(t testing.TB, response string) (string, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() { // ends with the pipe
		defer close(done)
		for buf := make([]byte, 64); ; {
			if _, err := theirs.Read(buf); err != nil {
				return
			}
		}
	}()
	c := natsConn{conn: ours, in: bufio.NewReader(strings.NewReader(response))}
	got, err := c.receive(t.Context())
	_ = ours.Close() // ends the goroutine
	<-done
	return string(got), err
}

// Any input from a peer results in a response or an error, and is not copied more than
// once.
func FuzzPeers(f *testing.F) {
	for _, response := range []string{"*1\r\n$2\r\nhi\r\n", "MSG a 1 2\r\nhi\r\n", "PING\r\n-ERR\r\n", "*3\r\n*-1\r\n"} {
		f.Add(response)
	}
	f.Fuzz(func(t *testing.T, response string) {
		c := redisConn{in: bufio.NewReader(strings.NewReader(response))}
		words, err := c.read()
		if size := len(strings.Join(words, "")); err == nil && size > len(response) {
			t.Errorf("got %d bytes from a response of %d", size, len(response))
		}
		if got, err := receiveNATS(t, response); err == nil && len(got) > len(response) {
			t.Errorf("got %d bytes from a message of %d", len(got), len(response))
		}
	})
}
