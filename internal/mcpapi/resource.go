package mcpapi

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// The resources of a caller. All are JSON, in the schemas of the REST API.
const (
	threadsURI = "shoal://threads"
	threadURI  = "shoal://threads/" // and the id
	meURI      = "shoal://me"

	jsonType = "application/json"
)

func (p *peer) addResources(to *mcp.Server) {
	to.AddResource(&mcp.Resource{
		URI: threadsURI, Name: "threads", MIMEType: jsonType,
		Description: "Your open threads with what is unread in each.",
	}, p.read(func(ctx context.Context, _ string) (any, error) {
		return p.api.set.Threads(ctx, p.caller)
	}))
	to.AddResource(&mcp.Resource{
		URI: meURI, Name: "me", MIMEType: jsonType, Description: "You, as the others see you.",
	}, p.read(func(ctx context.Context, _ string) (any, error) {
		return p.api.set.Me(ctx, p.caller)
	}))
	to.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: threadURI + "{id}", Name: "thread", MIMEType: jsonType,
		Description: "A thread of yours: its participants and its newest messages. Subscribe to hear of new ones.",
	}, p.read(func(ctx context.Context, uri string) (any, error) {
		return p.api.set.Thread(ctx, p.caller, shoal.SpaceID(strings.TrimPrefix(uri, threadURI)))
	}))
}

// read makes a resource of what get returns for a URI.
func (p *peer) read(get func(ctx context.Context, uri string) (any, error)) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri, name := req.Params.URI, p.api.carriers.of(req.Extra).name()
		value, err := any(nil), scopes.Tool(p.caller.Principal.Scopes, "")
		if err == nil {
			value, err = get(ctx, uri)
		}
		if errors.Is(err, shoal.NotFound) {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		if err != nil {
			// The texts of a failure are fit for a client; its cause is not.
			if shoal.KindOf(err) == shoal.Internal {
				p.api.Log.Error("a resource could not be read", "request", name, "uri", uri, "error", err)
			}
			return nil, errors.New(failure(name, err).texts[0])
		}
		body, err := rawjson.Marshal(new(bytes.Buffer), value)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(body)}}}, nil
	}
}
