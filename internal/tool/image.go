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
	// maxImages is how many images of one answer are kept; the others are left out.
	maxImages = 4
	// maxImageAnswer bounds a vendor's answer, which holds its images in base64.
	maxImageAnswer = 32 << 20
	// maxImageContext is how many bytes of the conversation go before the prompt.
	maxImageContext = 4000
)

var imageSchema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","minLength":1,"maxLength":24000,` +
	`"description":"What the picture shows, and how it looks."}},"required":["prompt"],"additionalProperties":false}`)

// imageVendor is one wire that images can be asked for over.
type imageVendor struct {
	keys    []string // the variables that may hold its key; the first that is set counts
	baseURL string   // where the vendor is
	model   string   // unless the config names one
	request func(g *generator, prompt string) (path string, body any)
	header  func(key string) (name, value string)
	images  func(answer []byte) ([][]byte, error)
}

var imageVendors = map[string]*imageVendor{
	"openai": openAIImages,
	"dall-e": openAIImages, // a name for the same wire in older configs
	"google": googleImages,
}

// generator asks a vendor for images.
type generator struct {
	config  agentconfig.Image
	vendor  *imageVendor
	model   string
	key     string
	client  *http.Client
	secrets secrets
	history func(context.Context) ([]agent.Message, error)
	keep    func(context.Context, shoal.File, []byte) (shoal.File, error)
}

// image makes a tool that has a vendor make pictures, and keeps them as files of
// this server.
func (t *Tool) image(x *agentconfig.Image, o Options) error {
	if o.Keep == nil {
		return shoal.Invalid("executionType", "image-generator is not supported here: the server keeps no files")
	}
	vendor, ok := imageVendors[x.Provider]
	if !ok {
		return shoal.Invalid("execution.provider", fmt.Sprintf("is %s, which this server cannot ask for images: openai and google are supported", x.Provider))
	}
	g := &generator{
		config: *x, vendor: vendor, model: cmp.Or(x.Model, vendor.model), keep: o.Keep,
		// A redirect could lead the key elsewhere.
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if x.IncludeContext {
		g.history = o.History
	}
	key, err := Expand(x.APIKey, o.Env)
	if err != nil {
		return shoal.Invalid("execution.apiKey", reasonOf(err))
	}
	for _, name := range vendor.keys {
		if key == "" && o.Keys != nil {
			key = o.Keys(name)
		}
	}
	if !headerValue(key) {
		return shoal.Invalid("execution.apiKey", "refers to a value of the environment that a header cannot hold")
	}
	g.key, g.secrets = key, newSecrets([]string{key}, nil)
	t.spec.Schema = imageSchema
	t.spec.Timeout = milliseconds(x.Timeout) + 5*time.Second // ours ends first, and says so
	t.run = g.call
	return nil
}

// reasonOf is what an error of Expand says of its field.
func reasonOf(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) && len(e.Fields) == 1 {
		return e.Fields[0].Message
	}
	return "cannot be read"
}

// imageResult is what the model gets.
type imageResult struct {
	Success  bool        `json:"success"`
	Provider string      `json:"provider"`
	Model    string      `json:"model"`
	Images   []madeImage `json:"images"`
	Duration int64       `json:"duration"` // milliseconds
	Error    string      `json:"error,omitempty"`
}

type madeImage struct {
	URL       string `json:"url"`
	MediaType string `json:"mediaType"`
}

// call has the vendor make images and keeps them. What went wrong on the way to the
// vendor is a failed output; what went wrong in here, and the end of ctx, an error.
func (g *generator) call(ctx context.Context, c call) (agent.Output, error) {
	began := time.Now()
	prompt, err := g.prompt(ctx, c)
	if err != nil {
		return agent.Output{}, err
	}
	out := imageResult{Provider: g.config.Provider, Model: g.model, Images: []madeImage{}}
	images, err := g.ask(ctx, prompt)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Output{}, context.Cause(ctx)
		}
		out.Error, out.Duration = g.secrets.hide(err.Error()), time.Since(began).Milliseconds()
		failure, err := answer(out)
		failure.Failed = true
		return failure, err
	}
	for _, data := range images {
		kind := http.DetectContentType(data)
		kept, err := g.keep(ctx, shoal.File{Name: c.Name + "." + strings.TrimPrefix(kind, "image/"), MediaType: kind}, data)
		if err != nil {
			return agent.Output{}, err
		}
		out.Images = append(out.Images, madeImage{URL: kept.URL, MediaType: kind})
	}
	out.Success, out.Duration = true, time.Since(began).Milliseconds()
	return answer(out)
}

// prompt is what the vendor is told: the model's prompt, behind the newest of the
// conversation where the config wants that.
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

// usableImages checks what a vendor sent: at most maxImages, each no larger than a
// file may be, and of a kind that browsers show.
func usableImages(images [][]byte) ([][]byte, error) {
	if len(images) == 0 {
		return nil, errors.New("the model made no image of this prompt; another prompt may help")
	}
	images = images[:min(len(images), maxImages)]
	for _, data := range images {
		switch {
		case len(data) > shoal.MaxFile:
			return nil, fmt.Errorf("an image has more than the %d bytes that a file may have; a smaller size may help", shoal.MaxFile)
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, http.DetectContentType(data)):
			return nil, errors.New("the server sent something that is no PNG, JPEG, GIF or WebP image")
		}
	}
	return images, nil
}
