package cluster

import (
	"errors"
	"net/http"
	"sync/atomic"
)

// balanced is the host that the clients of a balancer call.
const balanced = "cluster.test"

// balancer sends each request to the next server, like a load balancer that keeps nothing of
// a client. A server that is marked as out gets none, as if its health check had failed.
type balancer struct {
	nodes []*node
	out   []atomic.Bool // by node
	turn  atomic.Uint64
	inner http.RoundTripper
}

func newBalancer(nodes []*node) *balancer {
	return &balancer{nodes: nodes, out: make([]atomic.Bool, len(nodes)), inner: &http.Transport{MaxIdleConnsPerHost: 100}}
}

func (b *balancer) client() *http.Client { return &http.Client{Transport: b} }

var errNoServer = errors.New("no server is available")

// RoundTrip implements [http.RoundTripper].
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	for range b.nodes {
		i := int(b.turn.Add(1) % uint64(len(b.nodes)))
		if b.out[i].Load() {
			continue
		}
		r = r.Clone(r.Context())
		r.URL.Host, r.Host = b.nodes[i].Addr, b.nodes[i].Addr
		return b.inner.RoundTrip(r)
	}
	return nil, errNoServer
}
