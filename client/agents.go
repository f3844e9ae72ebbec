package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shoal-dev/shoal"
)

// ConfigFormat is the format of an agent's configuration.
type ConfigFormat string

// The formats of configurations, as media types.
const (
	ConfigJSON ConfigFormat = "application/json"
	ConfigYAML ConfigFormat = "application/yaml"
)

// PutAgent stores a configuration as the newest version of a hosted agent, and creates the
// agent's entity if it is new. If the configuration equals the newest version, nothing
// changes and that version is returned. An InvalidArgument error names every invalid field;
// the error is Conflict if id is a human. Admins only.
func (s *Session) PutAgent(ctx context.Context, id shoal.EntityID, format ConfigFormat, config []byte) (out shoal.HostedAgent, err error) {
	in := call{op: "client.PutAgent", method: http.MethodPut, path: s.path("agents", string(id)), body: content{string(format), config}}
	return out, s.client.do(ctx, in, &out)
}

// Agent returns the configuration of a hosted agent in one version, the newest
// if version is 0. Admins only.
func (s *Session) Agent(ctx context.Context, id shoal.EntityID, version int) (out shoal.HostedAgent, err error) {
	in := call{op: "client.Agent", path: s.path("agents", string(id))}
	if version != 0 {
		in.query = url.Values{"version": {strconv.Itoa(version)}}
	}
	return out, s.client.do(ctx, in, &out)
}

// Agents lists the hosted agents, each in its newest version, in the order of
// ids. Admins only.
func (s *Session) Agents(ctx context.Context) iter.Seq2[shoal.HostedAgent, error] {
	return list[shoal.HostedAgent](ctx, s.client, call{op: "client.Agents", path: s.path("agents")})
}

// AgentVersions lists the versions of a hosted agent, newest first. Admins only.
func (s *Session) AgentVersions(ctx context.Context, id shoal.EntityID) iter.Seq2[shoal.HostedAgent, error] {
	return list[shoal.HostedAgent](ctx, s.client, call{op: "client.AgentVersions", path: s.path("agents", string(id), "versions")})
}

// PreviewAgent returns the first model request of a run with this configuration, in a space
// or, without one, for a service. The agent need not exist; if config is empty, the stored
// configuration is used. Nothing is stored. An invalid configuration is refused as by
// [Session.PutAgent]. Admins only.
func (s *Session) PreviewAgent(ctx context.Context, id shoal.EntityID, format ConfigFormat, config []byte, space shoal.SpaceID) (out shoal.AgentPreview, err error) {
	in := call{op: "client.PreviewAgent", method: http.MethodPost, path: s.path("agents", string(id), "preview"), query: filters(map[string]string{"space": string(space)})}
	if len(config) > 0 {
		in.body = content{string(format), config}
	}
	return out, s.client.do(ctx, in, &out)
}

// DeleteAgent deletes the configuration of a hosted agent: its runs are canceled, and it
// remains as a connected agent. Admins only.
func (s *Session) DeleteAgent(ctx context.Context, id shoal.EntityID) error {
	in := call{op: "client.DeleteAgent", method: http.MethodDelete, path: s.path("agents", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}

// TriggeredRun is the run that a trigger started, with its status at that time.
type TriggeredRun struct {
	RunID   shoal.RunID     `json:"runId"`
	AgentID shoal.EntityID  `json:"agentId"`
	Status  shoal.RunStatus `json:"status"`
}

// TriggerAgent starts one run of a hosted agent for the named service, even if the call is
// retried. It does not wait for the end of the run: see [Session.Follow]. payload is any
// JSON value, null if empty. Services and admins only.
func (s *Session) TriggerAgent(ctx context.Context, id shoal.EntityID, service string, payload json.RawMessage, options ...CallOption) (started TriggeredRun, err error) {
	if len(payload) == 0 {
		payload = json.RawMessage("null")
	}
	in := call{op: "client.TriggerAgent", path: s.path("agents", string(id), "trigger")}
	in.body = struct {
		ServiceName string          `json:"serviceName"`
		Payload     json.RawMessage `json:"payload"`
	}{service, payload}
	return started, s.client.create(ctx, in, &started, options)
}
