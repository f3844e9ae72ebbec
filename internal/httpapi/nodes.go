package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

func nodeRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/v1/nodes", do: listNodes, id: "listNodes", tag: "Server",
		summary: "List the servers that share the database",
		about:   "In the order of their start: those that were alive within the last six seconds. The list is empty for a server that shares its database with no other. For admins only.",
		status:  http.StatusOK, out: page[shoal.Node]{}, errors: []shoal.Kind{shoal.Forbidden},
	}}
}

func listNodes(c *call) error {
	all, err := c.Hub.Nodes.List(c.ctx(), c.caller)
	return c.answerOr(err, http.StatusOK, pageOf(all, len(all), nil))
}
