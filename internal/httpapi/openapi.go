package httpapi

import (
	_ "embed" // the document is a file
	"net/http"
)

// openAPI is the OpenAPI document. It is made from the table of routes by
// `go generate`; a test fails when it is not what the table says.
//
//go:embed openapi.json
var openAPI []byte

func documentRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/openapi.json", do: serveOpenAPI, open: true, id: "openapi", tag: "Server",
			summary: "This document", status: http.StatusOK, out: map[string]any{},
		},
		{
			method: http.MethodGet, path: "/docs", do: serveDocs, open: true, id: "docs", tag: "Server",
			summary: "The reference, as a web page", status: http.StatusOK,
		},
		{method: http.MethodGet, path: "/docs/style.css", do: serveDocsStyle, open: true}, // part of the page
	}
}

func serveOpenAPI(c *call) error {
	return c.write(http.StatusOK, "application/json", openAPI)
}
