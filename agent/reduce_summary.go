package agent

import (
	"context"
	"errors"
	"strings"
	"time"
)

const (
	defaultSummaryPrompt = "You summarise a conversation between a user and an assistant so that the assistant can go on without the messages. " +
		"Keep every fact, name, number and identifier that may matter again, every decision with its reason, what was done with which tool and how it came out, " +
		"and every question that is still open. Be brief, use the language of the conversation, and answer with the summary alone."
	summaryTimeout = 2 * time.Minute
)

var errEmptySummary = errors.New("the summary is empty")

// summarize asks the summarizer for one summary of the old summary and the messages
// since, and sets its usage in did. It makes one attempt, because the turn can continue
// without a summary.
func (r *reducer) summarize(ctx context.Context, script string, did *Reduced) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, summaryTimeout)
	defer cancel()
	if r.text != "" {
		script = "The summary so far:\n" + r.text + "\n\nWhat was said since:\n" + script
	}
	var text strings.Builder
	did.Model = r.model.Info()
	finish := FinishReason("")
	req := &Request{Instructions: r.opts.Prompt, Messages: []Message{Say(script)}}
	for c, err := range r.model.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		if c.Model != nil {
			did.Model = *c.Model
		}
		switch c.Kind {
		case ChunkText:
			text.WriteString(c.Text)
		case ChunkUsage:
			if c.Usage != nil {
				did.Usage = *c.Usage
			}
		case ChunkFinish:
			finish = c.Reason
		}
		if text.Len() > maxSummary {
			return "", errors.New("the summary does not end")
		}
	}
	out := strings.TrimSpace(text.String())
	switch {
	case finish == "":
		return "", errors.New("the summary was cut off")
	case out == "":
		return "", errEmptySummary
	}
	return out, nil
}

// maxSummary is the maximum size of a summary in bytes; a longer one is discarded.
const maxSummary = 256 << 10

// estimator estimates how many tokens messages have. The provider's counts correct
// the estimate: they yield the tokens that every request has besides its messages and,
// once two requests differ enough, the tokens per byte.
type estimator struct {
	rate     float64 // of the uncorrected estimate; 0 if unknown
	overhead float64
	lastRaw  float64
	lastReal float64
}

func (e *estimator) estimate(messages []Message) int {
	rate := e.rate
	if rate == 0 {
		rate = 1
	}
	return int(e.overhead + rate*float64(plainTokens(messages)))
}

func (e *estimator) observed(u Usage, sent []Message) {
	raw, actual := float64(plainTokens(sent)), float64(u.InputTokens)
	if actual <= 0 || raw <= 0 {
		return
	}
	if e.lastRaw > 0 && (raw > 1.2*e.lastRaw || raw < 0.8*e.lastRaw) {
		e.rate = min(max((actual-e.lastReal)/(raw-e.lastRaw), 0.5), 4)
	}
	if e.rate == 0 {
		e.rate = min(1, actual/raw)
	}
	e.overhead = max(actual-e.rate*raw, 0)
	e.lastRaw, e.lastReal = raw, actual
}

// Fixed numbers of the uncorrected estimate: a file, and the overhead of a message.
const (
	tokensPerFile    = 1000
	tokensPerMessage = 4
)

func plainTokens(messages []Message) int {
	bytes, flat := 0, 0
	for i := range messages {
		flat += tokensPerMessage
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			bytes += len(p.Text) + len(p.Opaque)
			if p.File != nil {
				flat += tokensPerFile
			}
			if p.Call != nil {
				bytes += len(p.Call.Name) + len(p.Call.Arguments)
			}
			if p.Result != nil {
				bytes += len(p.Result.Text)
				flat += tokensPerFile * len(p.Result.Files)
			}
		}
	}
	return flat + bytes/4
}
