package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal/internal/httpapi/openapi"
)

func documentRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/openapi.json", do: serveOpenAPI, public: true, id: "openapi", tag: "Server",
			summary: "Read this document", status: http.StatusOK, out: map[string]any{},
		},
		{
			method: http.MethodGet, path: "/docs", do: serveDocs, public: true, id: "docs", tag: "Server",
			summary: "Read the reference as a web page", status: http.StatusOK,
		},
		{method: http.MethodGet, path: "/docs/style.css", do: serveDocsStyle, public: true}, // used by the page only
	}
}

func serveOpenAPI(c *call) error {
	return c.write(http.StatusOK, "application/json", openapi.Document)
}

// docsPolicy lets the page load its style sheet and nothing else. The page has no scripts.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func serveDocs(c *call) error {
	page, err := c.docs()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", docsPolicy)
	return c.write(http.StatusOK, "text/html; charset=utf-8", page)
}

func serveDocsStyle(c *call) error {
	return c.write(http.StatusOK, "text/css; charset=utf-8", openapi.Style)
}
