package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
)

const agentPath = sessionPath + "/agents/{agent}"

// configTypes are the media types of agent configs besides JSON.
var configTypes = []string{"application/yaml", "text/yaml", "application/x-yaml"}

const configExample = `{"version": "1.0", "agent": {"system": "You sell laptops."}, "model": {"provider": "openai", "name": "gpt-4o-mini"}}`

func agentRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/agents", do: listAgents, id: "listAgents", tag: "Agents",
			summary: "List the hosted agents of a session", about: "Each with the newest version of its config, in the order of ids. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.HostedAgent]{},
		},
		{
			method: http.MethodPut, path: agentPath, do: putAgent, id: "putAgent", tag: "Agents",
			summary: "Host an agent, or change how",
			about: "The body is an agent config in JSON or YAML, as `/v1/agent-config.schema.json` describes it; an `agent.id` in it must be the one of the path. " +
				"201 for an agent that was not hosted, with its entity if that is new, else 200. A config that says the same as the newest version changes nothing: " +
				"the answer is that version. Runs that have begun keep theirs. Every wrong field is named. For admins and owners of the session.",
			in: AgentConfig{}, example: configExample, types: configTypes, status: http.StatusOK, also: http.StatusCreated, out: shoal.HostedAgent{},
			errors: []shoal.Kind{shoal.Conflict, shoal.AdminRequired, shoal.AlreadyExists, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: agentPath, do: getAgent, id: "getAgent", tag: "Agents",
			summary: "Read a hosted agent", about: "The newest version of its config, or the one that is asked for. For admins and owners of the session.",
			query:  []param{{"version", "A version, counted from 1; the newest unless given.", integerParam}},
			status: http.StatusOK, out: shoal.HostedAgent{},
		},
		{
			method: http.MethodDelete, path: agentPath, do: deleteAgent, id: "deleteAgent", tag: "Agents",
			summary: "Stop hosting an agent", about: "Its runs are canceled, and a connected agent of the same id is left. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: agentPath + "/versions", do: listVersions, id: "listAgentVersions", tag: "Agents",
			summary: "List the versions of a hosted agent", about: "Each config that it was given, the newest first. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.HostedAgent]{},
		},
		{
			method: http.MethodPost, path: agentPath + "/preview", do: previewAgent, id: "previewAgent", tag: "Agents",
			summary: "Show what the model would see",
			about: "The system prompt, the tools and the first input of a run, made by what makes them for runs. The body is an agent config as for `PUT`, refused for the same reasons; " +
				"without a body it is the stored config. The agent need not be there yet. Nothing is stored and no model is asked; MCP servers are asked for their tools, " +
				"for up to five seconds, and what is missing is told in `warnings`. For admins and owners of the session.",
			query: []param{{"space", "The space in which the run would begin: its newest message is the trigger, or an example where it has none. Unless given, a service starts the run.", stringParam}},
			in:    AgentConfig{}, example: configExample, types: configTypes, optionalBody: true,
			status: http.StatusOK, out: shoal.AgentPreview{}, errors: []shoal.Kind{shoal.Conflict},
		},
		{
			method: http.MethodPost, path: agentPath + "/trigger", do: triggerAgent, id: "triggerAgent", tag: "Agents",
			summary: "Start a run", about: "The run has a conversation of its own with the service that `serviceName` names. The answer means that the run is stored; follow it at `runs/{run}/events`. Services and admins.",
			in: triggerInput{}, example: `{"serviceName": "billing", "payload": {"invoice": 4711}}`, idempotent: true,
			status: http.StatusAccepted, out: triggered{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func documentConfigRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/v1/agent-config.schema.json", do: serveConfigSchema, public: true, id: "agentConfigSchema", tag: "Server",
		summary: "The JSON Schema of agent configs", status: http.StatusOK, out: map[string]any{},
	}}
}

// AgentConfig is an agent config for the document, which points to its schema.
type AgentConfig map[string]any

// triggerInput is what a service starts a run with.
type triggerInput struct {
	ServiceName string          `json:"serviceName"`
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// triggered is the answer to a trigger.
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
	found, err := c.Hub.Agents.List(c.ctx(), c.who, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(a shoal.HostedAgent) string { return string(a.ID) }))
}

func putAgent(c *call) error {
	// Who may not do it is not told what is wrong with a config: which names of the
	// environment are allowed, for one.
	if !c.who.Manages() {
		_, _, err := c.Hub.Agents.Put(c.ctx(), c.who, hub.StoredAgent{HostedAgent: shoal.HostedAgent{ID: c.agent(), SessionID: c.session()}})
		return cmp.Or(err, error(shoal.E("httpapi.putAgent", shoal.Forbidden, "Only an admin or an owner of the session hosts agents.")))
	}
	body := guard.Body(c.r)
	if len(body) == 0 {
		return shoal.E("httpapi.putAgent", shoal.InvalidJSON, "The body is empty. Send an agent config in JSON or YAML.")
	}
	config, err := c.config(body)
	if err != nil {
		return err
	}
	stored, created, err := c.Hub.Agents.Put(c.ctx(), c.who, storedAgent(c.session(), config))
	if created {
		return c.answerOr(err, http.StatusCreated, stored)
	}
	return c.answerOr(err, http.StatusOK, stored)
}

// config reads and checks the config of the path's agent.
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

// storedAgent is a config with what the hub has to know of it.
func storedAgent(session shoal.SessionID, config *agentconfig.Config) hub.StoredAgent {
	return hub.StoredAgent{
		HostedAgent: shoal.HostedAgent{ID: config.Agent.ID, SessionID: session, Hash: config.Hash(), Config: config.Canonical()},
		Name:        config.Agent.Name, Description: config.Agent.Description,
		OnNewMessage: config.Loop.OnNewMessage, SettleMs: config.Loop.SettleMs, MaxSteps: config.Loop.MaxSteps,
	}
}

func getAgent(c *call) error {
	version, given, err := c.number("version")
	switch {
	case err != nil:
		return err
	case given && version < 1:
		return shoal.Invalid("query.version", "is counted from 1")
	}
	found, err := c.Hub.Agents.Get(c.ctx(), c.who, c.session(), c.agent(), int(version))
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
	found, err := c.Hub.Agents.Versions(c.ctx(), c.who, c.session(), c.agent(), before, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(a shoal.HostedAgent) string { return strconv.Itoa(a.Version) }))
}

func previewAgent(c *call) error {
	space, _ := c.value("space")
	// As for putAgent: who may not see it is told nothing of the config.
	draft, member, err := c.Hub.Agents.Draft(c.ctx(), c.who, c.session(), c.agent(), shoal.SpaceID(space))
	if err != nil {
		return err
	}
	config, err := c.draftConfig()
	if err != nil {
		return err
	}
	if c.Preview == nil {
		return shoal.E("httpapi.previewAgent", shoal.Busy, "This server executes no runs now. Try again in a moment.")
	}
	shown, err := c.Preview(c.ctx(), draft, config)
	if err == nil && space != "" && !member {
		shown.Warnings = append(shown.Warnings, fmt.Sprintf("%q is not a member of the space %q: it sees only the message that starts it, and cannot answer there.", c.agent(), space))
	}
	return c.answerOr(err, http.StatusOK, shown)
}

// draftConfig is the config in the body, or the stored one without a body.
func (c *call) draftConfig() (*agentconfig.Config, error) {
	if body := guard.Body(c.r); len(body) > 0 {
		return c.config(body)
	}
	stored, err := c.Hub.Agents.Get(c.ctx(), c.who, c.session(), c.agent(), 0)
	if err != nil {
		return nil, err
	}
	return agentconfig.Load(stored.Config)
}

func deleteAgent(c *call) error {
	return c.noContentOr(c.Hub.Agents.Delete(c.ctx(), c.who, c.session(), c.agent()))
}

func triggerAgent(c *call) error {
	var in triggerInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.ServiceName == "" {
		return shoal.Invalid("body.serviceName", "is missing: it says who starts the run, such as \"billing\"")
	}
	run, err := c.Hub.Runs.Trigger(c.ctx(), c.who, c.session(), c.agent(), in.ServiceName, in.Payload, c.idempotencyKey())
	return c.answerOr(err, http.StatusAccepted, triggered{run.ID, run.AgentID, run.Status})
}
