package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const agentPath = sessionPath + "/agents/{agent}"

const configExample = `{"version": "1.0", "agent": {"system": "You sell laptops."}, "model": {"provider": "openai", "name": "gpt-4o-mini"}}`

func agentRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/agents", do: listAgents, id: "listAgents", tag: "Agents",
			summary: "List the hosted agents of a session", about: "Ordered by id, each with the newest version of its configuration. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.HostedAgent]{},
		},
		{
			method: http.MethodPut, path: agentPath, do: putAgent, id: "putAgent", tag: "Agents",
			summary: "Create a hosted agent, or change its configuration",
			about: "The body is an agent configuration in JSON or YAML, as described by `/v1/agent-config.schema.json`; an `agent.id` in it must match the path. " +
				"Returns 201 for an agent that was not hosted, and creates its entity if necessary, else 200. A configuration that equals the newest version changes nothing and returns that version. " +
				"Runs that have started keep their version. The error lists every invalid field. For admins and owners of the session.",
			in: AgentConfig{}, example: configExample, types: bodies.Configs, status: http.StatusOK, also: http.StatusCreated, out: shoal.HostedAgent{},
			errors: []shoal.Kind{shoal.Conflict, shoal.AdminRequired, shoal.AlreadyExists, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: agentPath, do: getAgent, id: "getAgent", tag: "Agents",
			summary: "Read a hosted agent", about: "Returns the newest version of its configuration, or the requested one. For admins and owners of the session.",
			query:  []param{{"version", "A version, counted from 1. The default is the newest.", integerParam}},
			status: http.StatusOK, out: shoal.HostedAgent{},
		},
		{
			method: http.MethodDelete, path: agentPath, do: deleteAgent, id: "deleteAgent", tag: "Agents",
			summary: "Stop hosting an agent", about: "Cancels its runs. A connected agent with the same id remains. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: agentPath + "/versions", do: listVersions, id: "listAgentVersions", tag: "Agents",
			summary: "List the versions of a hosted agent", about: "Every configuration that was stored for it, newest first. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.HostedAgent]{},
		},
		{
			method: http.MethodPost, path: agentPath + "/preview", do: previewAgent, id: "previewAgent", tag: "Agents",
			summary: "Show what the model would see",
			about: "Returns the system prompt, the tools and the first input of a run, made by the code that makes them for runs. The body is an agent configuration as for `PUT`, with the same errors; " +
				"without a body, the stored configuration is used. The agent need not exist. Nothing is stored and no model is called; MCP servers are asked for their tools, " +
				"for up to five seconds, and `warnings` lists what is missing. For admins and owners of the session.",
			query: []param{{"space", "The space in which the run would start: its newest message is the trigger, or an example if it has none. Without it, the trigger is a service.", stringParam}},
			in:    AgentConfig{}, example: configExample, types: bodies.Configs, optionalBody: true,
			status: http.StatusOK, out: shoal.AgentPreview{}, errors: []shoal.Kind{shoal.Conflict},
		},
		{
			method: http.MethodPost, path: agentPath + "/trigger", do: triggerAgent, id: "triggerAgent", tag: "Agents",
			summary: "Start a run", about: "The run has a separate conversation with the service that `serviceName` names. The response means that the run is stored; follow it at `runs/{run}/events`. For services and admins.",
			in: triggerInput{}, example: `{"serviceName": "billing", "payload": {"invoice": 4711}}`, idempotent: true,
			status: http.StatusAccepted, out: triggered{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func documentConfigRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/v1/agent-config.schema.json", do: serveConfigSchema, public: true, id: "agentConfigSchema", tag: "Server",
		summary: "Read the JSON Schema of agent configurations", status: http.StatusOK, out: map[string]any{},
	}}
}

// AgentConfig is an agent configuration in the OpenAPI document, which refers to its schema.
type AgentConfig map[string]any

// triggerInput is the body with which a service starts a run.
type triggerInput struct {
	ServiceName string          `json:"serviceName"`
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// triggered is the response to a trigger.
type triggered struct {
	RunID   shoal.RunID     `json:"runId"`
	AgentID shoal.EntityID  `json:"agentId"`
	Status  shoal.RunStatus `json:"status"`
}

func (c *call) agent() shoal.EntityID { return shoal.EntityID(c.r.PathValue("agent")) }

func serveConfigSchema(c *call) error {
	return c.write(http.StatusOK, "application/schema+json", agentconfig.Schema())
}

func listAgents(c *call) error {
	after, limit, err := idCursor[shoal.EntityID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Agents.List(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(a shoal.HostedAgent) string { return string(a.ID) }))
}

func putAgent(c *call) error {
	// Callers without the right must not learn what is wrong with a configuration, for
	// example which environment variables are allowed.
	if err := c.Hub.Agents.MayPut(c.caller, c.session()); err != nil {
		return err
	}
	body := guard.Body(c.r)
	if len(body) == 0 {
		return shoal.E("httpapi.putAgent", shoal.InvalidJSON, "The body is empty. Send an agent configuration in JSON or YAML.")
	}
	config, err := c.config(body)
	if err != nil {
		return err
	}
	stored, created, err := c.Hub.Agents.Put(c.ctx(), c.caller, storedAgent(c.session(), config))
	if created {
		return c.answerOr(err, http.StatusCreated, stored)
	}
	return c.answerOr(err, http.StatusOK, stored)
}

// config decodes and checks a configuration of the agent in the path.
func (c *call) config(body []byte) (*agentconfig.Config, error) {
	options := agentconfig.Options{ID: c.agent(), Fixed: true}
	if c.Env != nil {
		options.Env = c.Env()
	}
	config, err := agentconfig.Decode(body, options)
	if err == nil && c.Check != nil {
		err = c.Check(config)
	}
	return config, err
}

// storedAgent returns a configuration with the fields that the hub needs.
func storedAgent(session shoal.SessionID, config *agentconfig.Config) storage.Agent {
	return storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: config.Agent.ID, SessionID: session, Hash: config.Hash(), Config: config.Canonical()},
		Name:        config.Agent.Name, Description: config.Agent.Description,
		OnNewMessage: config.Loop.OnNewMessage, SettleMs: config.Loop.SettleMs, MaxSteps: config.Loop.MaxSteps,
		Remote: config.Remote != nil,
	}
}

func getAgent(c *call) error {
	version, given, err := c.number("version")
	switch {
	case err != nil:
		return err
	case given && version < 1:
		return shoal.Invalid("query.version", "must be at least 1")
	}
	found, err := c.Hub.Agents.Get(c.ctx(), c.caller, c.session(), c.agent(), int(version))
	return c.answerOr(err, http.StatusOK, found)
}

func listVersions(c *call) error {
	place, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	before := 0
	if place != "" {
		if before, err = strconv.Atoi(place); err != nil || before < 1 {
			return badCursor()
		}
	}
	found, err := c.Hub.Agents.Versions(c.ctx(), c.caller, c.session(), c.agent(), before, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(a shoal.HostedAgent) string { return strconv.Itoa(a.Version) }))
}

func previewAgent(c *call) error {
	space, _ := c.value("space")
	// As in putAgent, callers without the right must not learn anything about the configuration.
	draft, member, err := c.Hub.Agents.Draft(c.ctx(), c.caller, c.session(), c.agent(), shoal.SpaceID(space))
	if err != nil {
		return err
	}
	config, err := c.draftConfig()
	if err != nil {
		return err
	}
	if c.Preview == nil {
		return shoal.E("httpapi.previewAgent", shoal.Busy, "This server does not execute runs now. Try again in a moment.")
	}
	shown, err := c.Preview(c.ctx(), draft, config)
	if err == nil && space != "" && !member {
		shown.Warnings = append(shown.Warnings, fmt.Sprintf("%q is not a member of the space %q: it sees only the message that starts the run, and cannot answer there.", c.agent(), space))
	}
	return c.answerOr(err, http.StatusOK, shown)
}

// draftConfig returns the configuration in the body, or the stored one without a body.
func (c *call) draftConfig() (*agentconfig.Config, error) {
	if body := guard.Body(c.r); len(body) > 0 {
		return c.config(body)
	}
	stored, err := c.Hub.Agents.Get(c.ctx(), c.caller, c.session(), c.agent(), 0)
	if err != nil {
		return nil, err
	}
	return agentconfig.Load(stored.Config)
}

func deleteAgent(c *call) error {
	return c.noContentOr(c.Hub.Agents.Delete(c.ctx(), c.caller, c.session(), c.agent()))
}

func triggerAgent(c *call) error {
	var in triggerInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.ServiceName == "" {
		return shoal.Invalid("body.serviceName", "is missing: it names the service that starts the run, such as \"billing\"")
	}
	run, err := c.Hub.Runs.Trigger(c.ctx(), c.caller, c.session(), c.agent(), in.ServiceName, in.Payload, c.idempotencyKey())
	return c.answerOr(err, http.StatusAccepted, triggered{run.ID, run.AgentID, run.Status})
}
