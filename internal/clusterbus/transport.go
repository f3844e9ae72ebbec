package clusterbus

import (
	"context"
	"time"
)

// Transport carries frames to all servers of a cluster, including the one that sends. It may
// lose, repeat and delay frames, but never changes one or delivers a part of one.
type Transport interface {
	// Start connects to the cluster with the given name, of letters and digits, and connects
	// again whenever the connection is lost, until Stop. It returns at once: the transport
	// calls up with true when it is connected and with false when the connection is lost.
	// receive is called with each frame, in the order of arrival and from one goroutine; it
	// does not block for long and does not keep the frame.
	Start(cluster string, receive func(frame []byte), up func(bool))
	// Send sends one frame of at most the limit's size. It returns when the frame is on its
	// way, or with an error if it may be lost. Calls are made one after the other.
	Send(ctx context.Context, frame []byte) error
	// Limits returns the limits of the transport, which do not change.
	Limits() Limits
	// Stop ends the connections and returns when no goroutine of the transport runs.
	Stop()
}

// Limits are what a transport can carry.
type Limits struct {
	// FrameBytes is the largest size of a frame.
	FrameBytes int
	// Pause is the shortest average time between two frames, QuietPause that between two in
	// which nothing is for an inbox or a run, and EventPause the shortest time before one that
	// contains only ephemeral events. Longer pauses gather more.
	Pause, QuietPause, EventPause time.Duration
}
