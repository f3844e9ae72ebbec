package tool_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// nameServer is a small DNS server. Each question for a name gets the next of its answers;
// the last one is repeated.
type nameServer struct {
	conn net.PacketConn
	mu   sync.Mutex
	// answers are addresses by name, one list for each question.
	answers map[string][][]netip.Addr
	asked   map[string]int
}

func serveNames(t *testing.T, answers map[string][][]netip.Addr) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, answers: answers, asked: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return // closed
			}
			if reply := s.reply(buffer[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// reply returns the answer to the single question of a message.
func (s *nameServer) reply(question []byte) []byte {
	if len(question) < 17 {
		return nil
	}
	var labels []string
	at := 12
	for question[at] != 0 {
		n := int(question[at])
		labels = append(labels, string(question[at+1:at+1+n]))
		at += n + 1
	}
	kind := binary.BigEndian.Uint16(question[at+1:])
	end := at + 5
	name := strings.ToLower(strings.Join(labels, "."))
	s.mu.Lock()
	lists, known := s.answers[name]
	i := min(s.asked[name], len(lists)-1)
	if kind == 1 { // A and AAAA are asked together; one of them is counted
		s.asked[name]++
	}
	s.mu.Unlock()
	out := append([]byte{}, question[:end]...)
	out[2], out[3] = 0x84, 0x00 // an authoritative answer
	binary.BigEndian.PutUint16(out[10:], 0)
	if !known {
		out[3] = 3 // no such name
		return out
	}
	count := uint16(0)
	for _, addr := range lists[i] {
		raw := addr.AsSlice()
		if (kind == 1) != addr.Is4() || (kind != 1 && kind != 28) {
			continue
		}
		out = append(out, 0xc0, 12)
		out = binary.BigEndian.AppendUint16(out, kind)
		out = binary.BigEndian.AppendUint16(out, 1)
		out = binary.BigEndian.AppendUint32(out, 0) // not to be cached
		out = binary.BigEndian.AppendUint16(out, uint16(len(raw)))
		out = append(out, raw...)
		count++
	}
	binary.BigEndian.PutUint16(out[6:], count)
	return out
}
