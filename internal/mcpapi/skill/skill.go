// Package skill serves the Agent Skills that come with Shoal over MCP: instructions for a model, with the
// files that they refer to, as the extension io.modelcontextprotocol/skills (SEP-2640) describes.
package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v4"
)

// Extension is the name under which a server announces that it has skills.
const Extension = "io.modelcontextprotocol/skills"

// Working is the URI of the skill for everybody who has the tools of Shoal.
const Working = "skill://working-with-shoal/" + mainFile

const (
	scheme   = "skill://"
	mainFile = "SKILL.md"
	textType = "text/markdown"

	// fresh is for how many milliseconds clients may keep an answer. The skills change only with the program.
	fresh = 3_600_000
	// everybody may have an answer: it is the same for all callers.
	everybody = "public"
)

//go:embed files
var embedded embed.FS

// entry is a skill as the extension describes it, with the fields of its SKILL.md and its files.
type entry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []file         `json:"resources"`
}

// file is a file of a skill.
type file struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256:hex of the content
	Size   int    `json:"size"`

	name, about string
	text        string
}

// all returns the skills by their URIs.
var all = sync.OnceValue(func() []entry {
	skills, err := read(embedded)
	if err != nil {
		panic(err) // the files are part of the program, and a test reads them
	}
	return skills
})

// read reads the skills below files.
func read(from fs.FS) ([]entry, error) {
	dirs, err := fs.ReadDir(from, "files")
	if err != nil {
		return nil, err
	}
	var skills []entry
	for _, d := range dirs {
		e, err := readOne(from, d.Name())
		if err != nil {
			return nil, fmt.Errorf("skill %s: %w", d.Name(), err)
		}
		skills = append(skills, e)
	}
	return skills, nil
}

func readOne(from fs.FS, name string) (entry, error) {
	e := entry{URI: scheme + name + "/" + mainFile}
	root := path.Join("files", name)
	err := fs.WalkDir(from, root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, at)
		if err != nil {
			return err
		}
		within := at[len(root)+1:]
		sum := sha256.Sum256(text)
		f := file{
			URI: scheme + name + "/" + within, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text),
			name: name + "/" + within, about: "A file of the skill " + name + ".", text: string(text),
		}
		if within == mainFile {
			if e.Frontmatter, err = frontmatter(text); err != nil {
				return err
			}
			f.name = name
			f.about, _ = e.Frontmatter["description"].(string)
		}
		e.Resources = append(e.Resources, f)
		return nil
	})
	if err == nil && (e.Frontmatter["name"] != name || e.Frontmatter["description"] == nil) {
		err = fmt.Errorf("%s needs the name %s and a description", mainFile, name)
	}
	return e, err
}

// frontmatter returns the fields between the first two lines of dashes.
func frontmatter(text []byte) (fields map[string]any, err error) {
	const fence = "---\n"
	rest, begins := bytes.CutPrefix(text, []byte(fence))
	head, _, ends := bytes.Cut(rest, []byte("\n"+fence))
	if !begins || !ends {
		return nil, fmt.Errorf("%s does not begin with fields between lines of dashes", mainFile)
	}
	return fields, yaml.Unmarshal(head, &fields)
}

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor"`
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// result has what both results of the extension have.
type result struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	TTLMs      int    `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

var complete = result{ResultType: "complete", TTLMs: fresh, CacheScope: everybody}

type listResult struct {
	result
	Skills []entry `json:"skills"`
}

type getResult struct {
	result
	Skill entry `json:"skill"`
}

// Add makes a server that has resources serve the skills: their files as resources, and the methods
// skills/list and skills/get. The capabilities of the server must have [Extension].
func Add(to *mcp.Server) {
	for _, s := range all() {
		for _, f := range s.Resources {
			to.AddResource(&mcp.Resource{URI: f.URI, Name: f.name, Description: f.about, MIMEType: textType, Size: int64(f.Size)}, f.read)
		}
	}
	err := errors.Join(mcp.AddReceivingCustomMethod(to, "skills/list", list), mcp.AddReceivingCustomMethod(to, "skills/get", get))
	if err != nil {
		panic(err) // the SDK has such methods itself
	}
}

// read returns the file.
func (f file) read(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: f.URI, MIMEType: textType, Text: f.text}}}, nil
}

// list returns all skills: they are few.
func list(_ context.Context, _ *mcp.ServerSession, p *listParams) (*listResult, error) {
	if p != nil && p.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "There is one page: leave the cursor out."}
	}
	return &listResult{complete, all()}, nil
}

func get(_ context.Context, _ *mcp.ServerSession, p *getParams) (*getResult, error) {
	uri := ""
	if p != nil {
		uri = p.URI
	}
	i := slices.IndexFunc(all(), func(e entry) bool { return e.URI == uri })
	if i < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("Skill %q not found: skills/list returns their URIs.", uri)}
	}
	return &getResult{complete, all()[i]}, nil
}
