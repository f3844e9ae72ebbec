package httpapi

import (
	"mime"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/httpapi/sandbox"
)

const (
	renderersPath    = sessionPath + "/renderers"
	rendererPath     = renderersPath + "/{renderer}"
	rendererPagePath = "/console/renderers/{session}/{renderer}/{version}"
)

func rendererRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: renderersPath, do: listRenderers, id: "listRenderers", tag: "Renderers",
			summary: "List the renderers", about: "The newest version of each, ordered by name.",
			query: listParams, status: http.StatusOK, out: page[shoal.Renderer]{},
		},
		{
			method: http.MethodPut, path: rendererPath, do: putRenderer, id: "putRenderer", tag: "Renderers",
			summary: "Store a renderer",
			about: "The body is a self-contained HTML page of at most 1 MiB, with inline scripts and styles and with images as `data:` URLs. The console shows it in a frame without an origin " +
				"and sends it the data to show as messages. A page that equals the newest version changes nothing; another one becomes the next version. " +
				"Returns 201 for the first version. For admins and owners of the session.",
			media: bodies.Renderer, status: http.StatusOK, also: http.StatusCreated, out: shoal.Renderer{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: rendererPath, do: deleteRenderer, id: "deleteRenderer", tag: "Renderers",
			summary: "Delete a renderer", about: "Deletes all its versions. Its tools get the default view again. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: rendererPagePath, do: serveRenderer, id: "getRendererPage", tag: "Renderers",
			summary: "Read the page of a renderer",
			about: "For every participant of the session. The page's policy lets its scripts run without an origin: they cannot access cookies, the network or other pages. " +
				"The ten newest versions are stored. Supports If-None-Match.",
			query: signedParams, file: true, status: http.StatusOK,
		},
	}
}

func (c *call) renderer() shoal.RendererName { return shoal.RendererName(c.r.PathValue("renderer")) }

func listRenderers(c *call) error {
	after, limit, err := idCursor[shoal.RendererName](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Renderers.List(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Renderer) string { return string(r.Name) }))
}

func putRenderer(c *call) error {
	sent := c.r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(sent); sent != "" && (err != nil || mediaType != bodies.Renderer) {
		return shoal.E("httpapi.putRenderer", shoal.UnsupportedMediaType, "A renderer is an HTML page. Send it with the Content-Type text/html.")
	}
	stored, created, err := c.Hub.Renderers.Put(c.ctx(), c.caller, c.session(), c.renderer(), guard.Body(c.r))
	if created {
		return c.answerOr(err, http.StatusCreated, stored)
	}
	return c.answerOr(err, http.StatusOK, stored)
}

func deleteRenderer(c *call) error {
	return c.noContentOr(c.Hub.Renderers.Delete(c.ctx(), c.caller, c.session(), c.renderer()))
}

func serveRenderer(c *call) error {
	version, err := strconv.Atoi(c.r.PathValue("version"))
	if err != nil {
		version = 0 // no renderer has this version
	}
	found, page, err := c.Hub.Renderers.Page(c.ctx(), c.caller, c.session(), c.renderer(), version)
	if err != nil {
		return err
	}
	sandbox.Protect(c.w.Header())
	return c.answerCacheable(found.Hash, "text/html; charset=utf-8", page)
}
