package tool

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// Control checks an address as for a connection to it.
func Control(t *testing.T, address string, listed bool, private ...netip.Prefix) error {
	t.Helper()
	n, err := NewNetwork(NetworkOptions{Private: private})
	if err != nil {
		t.Fatal(err)
	}
	kind := "tcp4"
	if strings.HasPrefix(address, "[") {
		kind = "tcp6"
	}
	return n.checkAddress(context.WithValue(t.Context(), listedKey{}, listed), kind, address, nil)
}

// Pretend resolves every name to one public address, which is connected to a local server.
func Pretend(n *Network, server string) {
	n.transport.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if err := n.checkAddress(ctx, "tcp4", net.JoinHostPort("93.184.216.34", port), nil); err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, "tcp", server)
	}
}
