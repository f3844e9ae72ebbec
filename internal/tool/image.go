package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

const (
	// maxImages limits the images of one answer that are stored; the others are dropped.
	maxImages = 4
	// maxImageAnswer limits the bytes of a vendor's answer, which contains its images in base64.
	maxImageAnswer = 32 << 20
	// maxImageContext limits the bytes of the conversation before the prompt.
	maxImageContext = 4000
)

var imageSchema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","minLength":1,"maxLength":24000,` +
	`"description":"What the picture shows, and how it looks."}},"required":["prompt"],"additionalProperties":false}`)

// imageVendor is the image API of one vendor.
type imageVendor struct {
	keys    []string // environment variables of its key; the first one that is set is used
	baseURL string   // default base URL
	model   string   // default model
	request func(g *generator, prompt string) (path string, body any)
	header  func(key string) (name, value string)
	images  func(answer []byte) ([][]byte, error)
}

var imageVendors = map[string]*imageVendor{
	"openai": openAIImages,
	"dall-e": openAIImages, // a name for the same API in older configs
	"google": googleImages,
}

// generator requests images from a vendor.
type generator struct {
	config  agentconfig.Image
	vendor  *imageVendor
	model   string
	key     string
	client  *http.Client
	secrets secrets
	history func(context.Context) ([]agent.Message, error)
	store   func(context.Context, shoal.File, []byte) (shoal.File, error)
}

// configureImage configures a tool that requests images from a vendor and stores them as files of
// this server.
func (t *Tool) configureImage(x *agentconfig.Image, o Options) error {
	if o.StoreFile == nil {
		return shoal.Invalid("executionType", "image-generator is not supported here: the server does not store files")
	}
	vendor, ok := imageVendors[x.Provider]
	if !ok {
		return shoal.Invalid("execution.provider", fmt.Sprintf("%s does not support image generation in this server: use openai or google", x.Provider))
	}
	g := &generator{
		config: *x, vendor: vendor, model: cmp.Or(x.Model, vendor.model), store: o.StoreFile,
		// A redirect could send the key to another host.
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if x.IncludeContext {
		g.history = o.History
	}
	key, err := Expand(x.APIKey, o.Env)
	if err != nil {
		return shoal.Invalid("execution.apiKey", fieldMessage(err))
	}
	for _, name := range vendor.keys {
		if key == "" && o.Keys != nil {
			key = o.Keys(name)
		}
	}
	if !isHeaderValue(key) {
		return shoal.Invalid("execution.apiKey", "refers to an environment value that is not valid in a header")
	}
	g.key, g.secrets = key, newSecrets([]string{key}, nil)
	t.spec.Schema = imageSchema
	t.spec.Timeout = milliseconds(x.Timeout) + 5*time.Second // the request's own time-out comes first and has a better message
	t.run = g.call
	return nil
}

// fieldMessage returns the message of an error of Expand about its field.
func fieldMessage(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) && len(e.Fields) == 1 {
		return e.Fields[0].Message
	}
	return "cannot be read"
}

// imageResult is the result that the model receives.
type imageResult struct {
	Success  bool           `json:"success"`
	Provider string         `json:"provider"`
	Model    string         `json:"model"`
	Images   []createdImage `json:"images"`
	Duration int64          `json:"duration"` // milliseconds
	Error    string         `json:"error,omitempty"`
}

type createdImage struct {
	URL       string `json:"url"`
	MediaType string `json:"mediaType"`
}

// call requests images from the vendor and stores them. A failure of the vendor is a failed
// output; a failure of this server, and the end of ctx, are errors.
func (g *generator) call(ctx context.Context, c call) (agent.Output, error) {
	began := time.Now()
	prompt, err := g.prompt(ctx, c)
	if err != nil {
		return agent.Output{}, err
	}
	out := imageResult{Provider: g.config.Provider, Model: g.model, Images: []createdImage{}}
	images, err := g.requestImages(ctx, prompt)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Output{}, context.Cause(ctx)
		}
		out.Error, out.Duration = g.secrets.hide(err.Error()), time.Since(began).Milliseconds()
		failure, err := outputOf(out)
		failure.Failed = true
		return failure, err
	}
	for _, data := range images {
		kind := http.DetectContentType(data)
		kept, err := g.store(ctx, shoal.File{Name: c.Name + "." + strings.TrimPrefix(kind, "image/"), MediaType: kind}, data)
		if err != nil {
			return agent.Output{}, err
		}
		out.Images = append(out.Images, createdImage{URL: kept.URL, MediaType: kind})
	}
	out.Success, out.Duration = true, time.Since(began).Milliseconds()
	return outputOf(out)
}

// prompt returns the prompt for the vendor: the model's prompt, preceded by the newest
// messages of the conversation if the config includes them.
func (g *generator) prompt(ctx context.Context, c call) (string, error) {
	prompt, _ := c.input["prompt"].(string) // the schema has seen that it is one
	if g.history == nil {
		return prompt, nil
	}
	messages, err := g.history(ctx)
	if err != nil {
		return "", err
	}
	var lines []string
	left := maxImageContext
	for _, m := range slices.Backward(messages) {
		text := m.Text()
		if text == "" || (m.Role != agent.User && m.Role != agent.Assistant) {
			continue
		}
		line := string(m.Role) + ": " + text
		if left -= len(line); left < 0 {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return prompt, nil
	}
	slices.Reverse(lines)
	return "What was said before:\n" + strings.Join(lines, "\n") + "\n\nMake a picture of this: " + prompt, nil
}

// usableImages checks the images of a vendor: at most maxImages, each at most as large as a
// file may be, and of a type that browsers show.
func usableImages(images [][]byte) ([][]byte, error) {
	if len(images) == 0 {
		return nil, errors.New("the model made no image of this prompt; another prompt may help")
	}
	images = images[:min(len(images), maxImages)]
	for _, data := range images {
		switch {
		case len(data) > shoal.MaxFile:
			return nil, fmt.Errorf("an image exceeds the limit of %d bytes; try a smaller size", shoal.MaxFile)
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, http.DetectContentType(data)):
			return nil, errors.New("the server sent data that is not a PNG, JPEG, GIF or WebP image")
		}
	}
	return images, nil
}
