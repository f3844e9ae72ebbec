package program

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddr returns an address of the loopback interface that stays free while a server that
// uses it is stopped: its port is below those that the system assigns to connections.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(18000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // only checked whether it is free
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}
