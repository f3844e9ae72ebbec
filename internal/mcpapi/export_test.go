package mcpapi

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// Server is the SDK's server of a caller, to be connected in memory.
func Server(a *API, who shoal.Principal, session shoal.SessionID) *mcp.Server {
	return a.peer(caller{who, session}).server
}

// Sessions counts the sessions of the older era that are kept.
func Sessions(a *API) int {
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	return len(a.sessions.byID)
}

// Watches counts the threads that are followed for subscribers.
func Watches(a *API) (n int) {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	for _, p := range a.peers.open {
		p.watches.mu.Lock()
		n += len(p.watches.open)
		p.watches.mu.Unlock()
	}
	return n
}

// Streams counts the open streams.
func Streams(a *API) (n int) {
	a.streams.mu.Lock()
	defer a.streams.mu.Unlock()
	for _, each := range a.streams.open {
		n += each
	}
	return n
}

// Carriers counts the calls that came through the SDK and are not answered.
func Carriers(a *API) int {
	a.carriers.mu.Lock()
	defer a.carriers.mu.Unlock()
	return len(a.carriers.open)
}

// OpenWaits counts the waits that can be cancelled by their id.
func OpenWaits(a *API) (n int) {
	a.waits.mu.Lock()
	defer a.waits.mu.Unlock()
	for _, each := range a.waits.open {
		n += len(each)
	}
	return n
}
