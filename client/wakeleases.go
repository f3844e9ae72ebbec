package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/shoal-dev/shoal"
)

// HoldWakeLease records the promise of a program to wake the model of an agent, or renews it, and
// returns how a mention reaches the agent now. Call it again at a third of the time that the lease
// lasts. For the agent itself, admins and owners of the session.
func (s *Session) HoldWakeLease(ctx context.Context, agent shoal.EntityID, l shoal.WakeLease) (out shoal.Wake, err error) {
	in := call{op: "client.HoldWakeLease", method: http.MethodPut, path: s.path("entities", string(agent), "wake-lease"), body: l}
	return out, s.client.do(ctx, in, &out)
}

// RecordWakeTest stores what came of a test whether a mention wakes an agent, for everybody to see with
// the agent. For the sender of the test, admins and owners of the session.
func (s *Session) RecordWakeTest(ctx context.Context, agent shoal.EntityID, t shoal.WakeTest) (out shoal.WakeProof, err error) {
	in := call{op: "client.RecordWakeTest", method: http.MethodPut, path: s.path("entities", string(agent), "wake-proof"), body: t}
	return out, s.client.do(ctx, in, &out)
}

// ReleaseWakeLease ends the wake leases of an agent, or, if sessionRef is not empty, those for that
// session of its coding agent. It succeeds if there are none.
func (s *Session) ReleaseWakeLease(ctx context.Context, agent shoal.EntityID, sessionRef string) error {
	in := call{op: "client.ReleaseWakeLease", method: http.MethodDelete, path: s.path("entities", string(agent), "wake-lease")}
	if sessionRef != "" {
		in.query = url.Values{"sessionRef": {sessionRef}}
	}
	return s.client.do(ctx, in, nil)
}
