package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// requestImages requests images from the vendor. The error is for the model and may contain the key
// until the caller hides it.
func (g *generator) requestImages(ctx context.Context, prompt string) ([][]byte, error) {
	if g.key == "" && g.config.BaseURL == "" {
		return nil, fmt.Errorf("the server has no key for %s: ask its operator to set %s", g.config.Provider, strings.Join(g.vendor.keys, " or "))
	}
	timeout := milliseconds(g.config.Timeout)
	bounded, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	status, text, err := g.post(bounded, prompt)
	switch {
	case errors.Is(context.Cause(bounded), errTimeout):
		return nil, fmt.Errorf("%w (%v)", errTimeout, timeout)
	case err != nil:
		return nil, errors.New("the image server could not be reached or closed the connection") // the cause holds its URL
	case status < 200 || status > 299:
		return nil, refusalError(status, text)
	case len(text) > maxImageAnswer:
		return nil, fmt.Errorf("the answer is larger than %d bytes; try a smaller size", maxImageAnswer)
	}
	images, err := g.vendor.images(text)
	if err != nil {
		return nil, errors.New("the image server sent an answer that cannot be read")
	}
	return usableImages(images)
}

// post sends the request and reads its answer, up to one byte more than maxImageAnswer.
func (g *generator) post(ctx context.Context, prompt string) (status int, text []byte, err error) {
	path, body := g.vendor.request(g, prompt)
	sent, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	base := strings.TrimSuffix(cmp.Or(g.config.BaseURL, g.vendor.baseURL), "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(sent))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "shoal")
	if g.key != "" {
		req.Header.Set(g.vendor.header(g.key))
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxImageAnswer+1))
	return resp.StatusCode, text, err
}

// maxRefusal limits the bytes of a vendor's error message that are passed to the model.
const maxRefusal = 500

// refusalError returns the error for an answer without images. Both vendors use the same field for the message.
func refusalError(status int, text []byte) error {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the image server refuses the key (status %d); ask the operator of this server to check it", status)
	case json.Unmarshal(text, &said) != nil || said.Error.Message == "":
		return fmt.Errorf("the image server answered with status %d", status)
	}
	why := said.Error.Message
	why = strings.ToValidUTF8(why[:min(len(why), maxRefusal)], "") // the cut may split a character
	return fmt.Errorf("the image server answered with status %d: %s", status, why)
}

// openAIImages is the API of OpenAI and compatible servers.
var openAIImages = &imageVendor{
	keys: []string{"OPENAI_API_KEY"}, baseURL: "https://api.openai.com/v1", model: "gpt-image-2",
	header: func(key string) (string, string) { return "Authorization", "Bearer " + key },
	request: func(g *generator, prompt string) (string, any) {
		x := g.config
		body := struct {
			Model   string `json:"model"`
			Prompt  string `json:"prompt"`
			N       int    `json:"n"`
			Size    string `json:"size"`
			Quality string `json:"quality,omitempty"`
			Style   string `json:"style,omitempty"`
			Format  string `json:"response_format,omitempty"`
		}{Model: g.model, Prompt: prompt, N: 1, Size: x.Size}
		wide := "1792x1024"
		if strings.Contains(g.model, "gpt-image") { // always answers in base64, and has its own values for quality
			wide = "1536x1024"
			body.Prompt = withStyle(prompt, x.Style)
			if x.Quality == "hd" {
				body.Quality = "high"
			}
		} else {
			body.Style, body.Format = x.Style, "b64_json"
			if x.Quality == "hd" {
				body.Quality = "hd"
			}
		}
		width, height, _ := strings.Cut(wide, "x")
		switch x.Size {
		case "landscape":
			body.Size = wide
		case "portrait":
			body.Size = height + "x" + width
		case "square":
			body.Size = "1024x1024"
		}
		return "/images/generations", body
	},
	images: func(answer []byte) (images [][]byte, err error) {
		var said struct {
			Data []struct {
				Image []byte `json:"b64_json"`
			} `json:"data"`
		}
		err = json.Unmarshal(answer, &said)
		for _, d := range said.Data {
			images = append(images, d.Image)
		}
		return images, err
	},
}

// withStyle adds a style to the prompt for APIs without a field for it.
func withStyle(prompt, style string) string {
	if style == "" {
		return prompt
	}
	return prompt + "\n\nStyle: " + style
}

// object is a JSON object of a request.
type object map[string]any

// googleImages is the Gemini API's generateContent. Imagen, which had another API, was shut
// down in August 2026.
var googleImages = &imageVendor{
	keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, baseURL: "https://generativelanguage.googleapis.com", model: "gemini-3.1-flash-image",
	header: func(key string) (string, string) { return "X-Goog-Api-Key", key },
	request: func(g *generator, prompt string) (string, any) {
		settings := object{"responseModalities": []string{"IMAGE"}}
		if ratio := aspectRatio(g.config.Size); ratio != "" {
			settings["imageConfig"] = object{"aspectRatio": ratio}
		}
		path := "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(g.model, "models/")) + ":generateContent"
		return path, object{
			"contents":         []object{{"role": "user", "parts": []object{{"text": withStyle(prompt, g.config.Style)}}}},
			"generationConfig": settings,
		}
	},
	images: func(answer []byte) (images [][]byte, err error) {
		var said struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Thought bool `json:"thought"` // an intermediate sketch
						Inline  *struct {
							Data []byte `json:"data"`
						} `json:"inlineData"`
					} `json:"parts"`
				} `json:"content"`
			} `json:"candidates"`
		}
		err = json.Unmarshal(answer, &said)
		for _, c := range said.Candidates {
			for _, p := range c.Content.Parts {
				if p.Inline != nil && !p.Thought {
					images = append(images, p.Inline.Data)
				}
			}
		}
		return images, err
	},
}

// ratios are the aspect ratios that all of Google's models support.
var ratios = []struct{ width, height float64 }{{1, 1}, {4, 3}, {3, 4}, {16, 9}, {9, 16}}

// aspectRatio returns the ratio that is nearest to a size; empty if the vendor should
// decide.
func aspectRatio(size string) string {
	switch size {
	case "landscape":
		return "16:9"
	case "portrait":
		return "9:16"
	case "square":
		return "1:1"
	}
	w, h, _ := strings.Cut(size, "x")
	width, err := strconv.ParseFloat(w, 64)
	height, err2 := strconv.ParseFloat(h, 64)
	if errors.Join(err, err2) != nil {
		return ""
	}
	best, distance := "", math.Inf(1)
	for _, r := range ratios {
		if d := math.Abs(math.Log(width / height * r.height / r.width)); d < distance {
			best, distance = fmt.Sprintf("%v:%v", r.width, r.height), d
		}
	}
	return best
}
