package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
)

const (
	renderersPath    = sessionPath + "/renderers"
	rendererPath     = renderersPath + "/{renderer}"
	rendererPagePath = "/console/renderers/{session}/{renderer}/{version}"
	rendererType     = "text/html"
)

func rendererRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: renderersPath, do: listRenderers, id: "listRenderers", tag: "Renderers",
			summary: "List the renderers", about: "The newest version of each, in the order of names.",
			query: listParams, status: http.StatusOK, out: page[shoal.Renderer]{},
		},
		{
			method: http.MethodPut, path: rendererPath, do: putRenderer, id: "putRenderer", tag: "Renderers",
			summary: "Store a renderer",
			about: "The body is a page of HTML with everything in it, at most 1 MiB: scripts and styles inline, pictures as `data:`. The console shows it in a frame without an origin of its own, " +
				"and tells it what to show by messages. The page of the newest version changes nothing; another one becomes the next version. " +
				"The first answers 201. For admins and owners of the session.",
			media: rendererType, status: http.StatusOK, also: http.StatusCreated, out: shoal.Renderer{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: rendererPath, do: deleteRenderer, id: "deleteRenderer", tag: "Renderers",
			summary: "Delete a renderer", about: "With all its versions. The tools that it showed are shown as others are. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: rendererPagePath, do: serveRenderer, id: "getRendererPage", tag: "Renderers",
			summary: "The page of a renderer",
			about: "To whoever is in the session. It is served under a policy in which its scripts run, but without an origin: it reaches no cookies, no network and no other page. " +
				"The ten newest versions are kept. With If-None-Match it can be 304.",
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
	found, err := c.Hub.Renderers.List(c.ctx(), c.who, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Renderer) string { return string(r.Name) }))
}

func putRenderer(c *call) error {
	sent := c.r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(sent); sent != "" && (err != nil || mediaType != rendererType) {
		return shoal.E("httpapi.putRenderer", shoal.UnsupportedMediaType, "A renderer is a page of HTML. Send it with the Content-Type text/html.")
	}
	stored, created, err := c.Hub.Renderers.Put(c.ctx(), c.who, c.session(), c.renderer(), guard.Body(c.r))
	if created {
		return c.answerOr(err, http.StatusCreated, stored)
	}
	return c.answerOr(err, http.StatusOK, stored)
}

func deleteRenderer(c *call) error {
	return c.noContentOr(c.Hub.Renderers.Delete(c.ctx(), c.who, c.session(), c.renderer()))
}

// rendererPolicy lets a page run its own scripts and styles, and gives it no origin:
// it cannot load anything, nor reach the console, which shows it, by anything but
// messages. `sandbox` holds too where somebody opens the page alone. WebRTC is not a
// fetch, so that no other directive forbids it to send what the page has read.
var rendererPolicy = strings.Join([]string{
	"sandbox allow-scripts",
	"default-src 'none'",
	"script-src 'unsafe-inline'",
	"style-src 'unsafe-inline'",
	"img-src data:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'self'",
	"webrtc 'block'",
}, "; ")

func serveRenderer(c *call) error {
	version, err := strconv.Atoi(c.r.PathValue("version"))
	if err != nil {
		version = 0 // which nothing has
	}
	found, page, err := c.Hub.Renderers.Page(c.ctx(), c.who, c.session(), c.renderer(), version)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Security-Policy", rendererPolicy)
	h.Set("X-DNS-Prefetch-Control", "off") // a name that is looked up is a message, too
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	return c.answerCacheable(found.Hash, "text/html; charset=utf-8", page)
}
