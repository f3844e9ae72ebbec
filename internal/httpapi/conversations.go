package httpapi

import (
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
)

const (
	conversationsPath = agentPath + "/conversations"
	conversationPath  = conversationsPath + "/{conversation}"
)

func conversationRoutes() []route {
	const who = " For admins and owners of the session. Members of the space and owners of the agent do not get access, because runs may read other spaces on behalf of the participants that they act for."
	return []route{
		{
			method: http.MethodGet, path: conversationsPath, do: listConversations, id: "listAgentConversations", tag: "Agents",
			summary: "List the conversations of a hosted agent",
			about:   "One for each space, plan and service that started its runs, ordered by id, without cleared ones." + who,
			query:   listParams, status: http.StatusOK, out: page[shoal.Conversation]{},
		},
		{
			method: http.MethodGet, path: conversationPath, do: getConversation, id: "getAgentConversation", tag: "Agents",
			summary: "Read a conversation of a hosted agent",
			about: "Returns what each ended run added: newest run first, the messages of a run in order. A page ends early if its runs exceed about 1 MiB. " +
				"Data that only the provider reads is left out. An agent whose configuration has `context.conversation: false` does not read its conversation." + who,
			query: listParams, status: http.StatusOK, out: page[shoal.ConversationRun]{},
		},
		{
			method: http.MethodDelete, path: conversationPath, do: clearConversation, id: "clearAgentConversation", tag: "Agents",
			summary: "Clear a conversation of a hosted agent",
			about: "Later runs start without the history. The runs, their steps, the messages of the space, and the agent's memories and goals remain. " +
				"Fails with `conflict` while a run of the conversation is active." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Conflict, shoal.SessionClosed},
		},
	}
}

func (c *call) conversation() string { return c.r.PathValue("conversation") }

func listConversations(c *call) error {
	after, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	found, err := c.Hub.Agents.Conversations(c.ctx(), c.caller, c.session(), c.agent(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(v shoal.Conversation) string { return v.ID }))
}

func getConversation(c *call) error {
	place, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	before, err := strconv.ParseInt(place, 10, 64)
	if place != "" && (err != nil || before < 1) {
		return badCursor()
	}
	found, err := c.Hub.Agents.ReadConversation(c.ctx(), c.caller, c.session(), c.agent(), c.conversation(), before, limit)
	if err != nil {
		return err
	}
	runs, err := c.Conversation(found.Conversation, found.Blocks)
	out := page[shoal.ConversationRun]{Items: runs}
	if found.Before > 0 {
		out.NextCursor = cursorOf(strconv.FormatInt(found.Before, 10))
	}
	return c.answerOr(err, http.StatusOK, out)
}

func clearConversation(c *call) error {
	return c.noContentOr(c.Hub.Agents.ClearConversation(c.ctx(), c.caller, c.session(), c.agent(), c.conversation()))
}
