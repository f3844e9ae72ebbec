package shoal

import "encoding/json"

// PendingAnswer is what a caller hands in to settle a pending action. A client
// tool takes Result (any JSON value) or Error; a permission Approved, with Reason,
// with Args that are to run in place of the model's, and with Remember; or Approved
// false with Ask, which sends the call back with a question. A question takes Answer.
//
// ArgsHash, if set, is the hash of the action that the caller has read: with another
// one it is ArgsChanged. AlsoEqual gives the same answer to every other open action
// of that agent, space, tool and hash that the caller may settle.
type PendingAnswer struct {
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *string         `json:"error,omitempty"`
	Approved  *bool           `json:"approved,omitempty"`
	Reason    *string         `json:"reason,omitempty"`
	Remember  *Remember       `json:"remember,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Ask       *string         `json:"ask,omitempty"`
	Answer    *string         `json:"answer,omitempty"`
	ArgsHash  *string         `json:"argsHash,omitempty"`
	AlsoEqual bool            `json:"alsoEqual,omitempty"`
}

// answerFields are the fields of an answer of each kind.
var answerFields = map[PendingKind][]string{
	PendingClientTool: {"result", "error"},
	PendingPermission: {"approved", "reason", "remember", "args", "ask"},
	PendingQuestion:   {"answer"},
}

// Validate names every field that does not belong to an answer of that kind, or
// is missing, in one [InvalidArgument] error; [TooLarge] over [MaxContent] bytes.
func (a PendingAnswer) Validate(kind PendingKind) error {
	var p problems
	given := map[string]bool{
		"result": len(a.Result) > 0, "error": a.Error != nil, "approved": a.Approved != nil, "reason": a.Reason != nil,
		"remember": a.Remember != nil, "args": len(a.Args) > 0, "ask": a.Ask != nil, "answer": a.Answer != nil,
	}
	mine := map[string]bool{}
	for _, f := range answerFields[kind] {
		mine[f] = true
	}
	for _, f := range []string{"result", "error", "approved", "reason", "remember", "args", "ask", "answer"} {
		if given[f] && !mine[f] {
			p.add(Invalid(f, "does not belong to an answer of a "+string(kind)))
		}
	}
	switch kind {
	case PendingClientTool:
		if given["result"] == given["error"] {
			p.add(Invalid("result", "or error is needed, one of the two"))
		}
		if given["result"] && !json.Valid(a.Result) {
			p.add(Invalid("result", "must be a JSON value"))
		}
	case PendingPermission:
		a.checkDecision(&p)
	case PendingQuestion:
		if orEmpty(a.Answer) == "" {
			p.add(Invalid("answer", "is missing"))
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	texts := map[string]string{"error": orEmpty(a.Error), "reason": orEmpty(a.Reason), "ask": orEmpty(a.Ask), "answer": orEmpty(a.Answer)}
	for field, text := range texts {
		if err := checkText(field, text, MaxContent); err != nil {
			return err
		}
	}
	if len(a.Result) > MaxContent {
		return E("", TooLarge, "result is too large; an answer holds at most 256 KiB")
	}
	if err := checkObject("args", orNull(a.Args), MaxContent); len(a.Args) > 0 && err != nil {
		return err
	}
	return checkObject("result", wrapped(orNull(a.Result)), MaxContent+16)
}

// checkDecision adds what is wrong with the answer to a permission.
func (a PendingAnswer) checkDecision(p *problems) {
	yes := a.Approved != nil && *a.Approved
	if a.Approved == nil {
		p.add(Invalid("approved", "is missing: true or false"))
	}
	if a.Ask != nil && (yes || a.Reason != nil || a.Remember != nil) {
		p.add(Invalid("ask", "sends the call back: it needs approved false, and neither reason nor remember"))
	} else if a.Ask != nil && *a.Ask == "" {
		p.add(Invalid("ask", "is empty: write the question"))
	}
	if len(a.Args) > 0 && !yes {
		p.add(Invalid("args", "are what is approved: they need approved true"))
	}
	if r := a.Remember; r != nil && (a.Approved == nil || r.Decision != map[bool]string{true: RememberAllow, false: RememberDeny}[yes]) {
		p.add(Invalid("remember", `must be "allow" with approved true, or "deny" with approved false`))
	} else if r != nil {
		p.add(r.check())
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
