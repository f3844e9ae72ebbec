package talk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// lineHelp is what can be typed.
const lineHelp = `TEXT                  says it; @ID in it mentions a member
//TEXT                says /TEXT
/approvals            lists what waits for you, with a number that stands for its id
/approve ID [REASON]  lets an agent do what it asks for
/deny ID [REASON]     forbids it
/answer ID VALUE      answers a question, or hands in the result of a tool (JSON or a text)
/answer ID            asks for the answer field by field
/cancel               ends such questions without an answer
/spaces               lists your spaces
/join SPACE           goes to another space
/members              lists who is here
/quit                 leaves, as the end of input does`

// execute does what was typed.
func (l *lineChat) execute(ctx context.Context, typed string) error {
	if l.form != nil {
		l.enterField(ctx, typed)
		return nil
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(typed), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "":
		return nil
	case strings.HasPrefix(word, "//"):
		l.post(ctx, strings.TrimSpace(typed)[1:])
		return nil
	case !strings.HasPrefix(word, "/"):
		l.post(ctx, typed)
		return nil
	}
	commands := map[string]func(context.Context, string) error{
		"/help":      func(context.Context, string) error { return l.printList(lineHelp, strings.Split(lineHelp, "\n")) },
		"/spaces":    l.spaces,
		"/join":      func(ctx context.Context, rest string) error { return l.join(ctx, shoal.SpaceID(rest)) },
		"/members":   l.members,
		"/approvals": l.approvals,
		"/approve":   func(ctx context.Context, rest string) error { return l.decide(ctx, rest, true) },
		"/deny":      func(ctx context.Context, rest string) error { return l.decide(ctx, rest, false) },
		"/answer":    l.answer,
		"/cancel":    func(context.Context, string) error { return nil },
		"/quit":      func(context.Context, string) error { l.inputEnded = true; return nil },
	}
	do := commands[word]
	if do == nil {
		l.reportFailure(shoal.E("", cli.KindUsage, fmt.Sprintf("there is no %s; // says it", word)))
		return nil
	}
	if err := do(ctx, rest); err != nil {
		l.reportFailure(err)
	}
	return nil
}

func (l *lineChat) spaces(context.Context, string) error {
	all := cli.List[shoal.Space]{Items: []shoal.Space{}}
	var rows []string
	for _, sp := range l.state.Spaces() {
		all.Items = append(all.Items, sp.Space)
		row := string(sp.ID) + " (" + safetext.Line(sp.Name) + ")"
		if sp.ID == l.space {
			row += ", here"
		}
		if sp.Status == shoal.SpaceShut {
			row += ", closed"
		}
		row += countSuffix(sp.UnreadCount, "unread") + countSuffix(sp.MentionCount, "mentioning you") + countSuffix(int64(len(l.state.Waiting(sp.ID))), "waiting for you")
		rows = append(rows, row)
	}
	return l.printList(all, rows)
}

// countSuffix is a count in a row, nothing for none.
func countSuffix(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return ", " + cli.Itoa(n) + " " + what
}

func (l *lineChat) printList(object any, rows []string) error {
	if l.shell.Output.JSON {
		return l.shell.Output.PrintObject(object)
	}
	for _, row := range rows {
		if err := l.printText(row); err != nil {
			return err
		}
	}
	return nil
}

// members lists who is in the space, with what they do as the server says it now.
func (l *lineChat) members(ctx context.Context, _ string) error {
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		all, err := cli.Collect(l.session.Entities(ctx))
		return func() error {
			l.state.People(all.Items)
			members := cli.List[shoal.Entity]{Items: []shoal.Entity{}}
			var rows []string
			for _, m := range l.state.Space(l.space).Members {
				e := l.state.Entity(m.EntityID)
				members.Items = append(members.Items, e)
				rows = append(rows, fmt.Sprintf("%s (%s), %s, %s", m.EntityID, safetext.Line(m.Name), m.Kind, chat.StateMark(e.State).Word))
			}
			return l.printList(members, rows)
		}, err
	})
	return nil
}

// approvals lists what waits.
func (l *lineChat) approvals(context.Context, string) error {
	all := cli.List[shoal.PendingAction]{Items: slices.Clone(l.state.All())}
	if l.shell.Output.JSON {
		return l.shell.Output.PrintObject(all)
	}
	if len(all.Items) == 0 {
		return l.printText("nothing waits for you")
	}
	for _, p := range all.Items {
		if err := l.printPending(p); err != nil {
			return err
		}
	}
	return nil
}

// pending finds what waits by its id or its number.
func (l *lineChat) pending(name string) (shoal.PendingAction, error) {
	if name == "" {
		return shoal.PendingAction{}, shoal.E("", cli.KindUsage, "name what is meant: /approvals lists what waits, with its number")
	}
	id := shoal.PendingID(name)
	if n, err := strconv.Atoi(name); err == nil {
		for known, number := range l.numbers {
			if number == n {
				id = known
			}
		}
	}
	if p, ok := l.state.Pending(id); ok {
		return p, nil
	}
	if p, ok := l.state.Settled(id); ok {
		return p, shoal.E("", shoal.AlreadyAnswered, view.PendingOutcome(p))
	}
	return shoal.PendingAction{}, shoal.E("", shoal.NotFound, fmt.Sprintf("nothing that waits for you is called %q", name))
}

func (l *lineChat) decide(ctx context.Context, rest string, yes bool) error {
	name, reason, _ := strings.Cut(rest, " ")
	p, err := l.pending(name)
	if err != nil {
		return err
	}
	if p.Kind != shoal.PendingPermission {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("%s is not a permission; /answer %s answers it", name, name))
	}
	return l.sendAnswer(ctx, p.ID, chat.Decision(yes, false, strings.TrimSpace(reason)))
}

// answer hands an answer in, or begins to ask for it.
func (l *lineChat) answer(ctx context.Context, rest string) error {
	name, text, _ := strings.Cut(rest, " ")
	p, err := l.pending(name)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text); text == "" {
		l.form = chat.NewForm(p)
		return l.printField()
	}
	a, err := chat.TextAnswer(p.Kind, text)
	if err != nil {
		return err
	}
	return l.sendAnswer(ctx, p.ID, a)
}

// printField prints the field of the form that is asked for.
func (l *lineChat) printField() error {
	f := l.form.Field()
	if f.Wrong != "" {
		if err := l.printText("? " + f.Wrong); err != nil {
			return err
		}
	}
	for i, choice := range f.Choices {
		if f.Offers() {
			if err := l.printText(fmt.Sprintf("? %d %s", i+1, safetext.Line(choice))); err != nil {
				return err
			}
		}
	}
	return l.printText("? " + safetext.Line(f.Prompt()))
}

// enterField takes what was typed into the form.
func (l *lineChat) enterField(ctx context.Context, typed string) {
	if strings.TrimSpace(typed) == "/cancel" {
		l.form = nil
		return
	}
	var err error
	if f := l.form; f.Enter(typed) {
		l.form = nil
		err = l.sendAnswer(ctx, f.Action.ID, f.Answer())
	} else {
		err = l.printField()
	}
	if err != nil {
		l.reportFailure(err)
	}
}

// sendAnswer hands an answer in, unless nobody would know how it was taken.
func (l *lineChat) sendAnswer(ctx context.Context, id shoal.PendingID, a shoal.PendingAnswer) error {
	if !l.state.Live {
		return shoal.E("", shoal.Busy, "the connection is lost: an answer is sent only while it stands")
	}
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		p, err := l.session.AnswerPending(ctx, id, a)
		return func() error {
			l.numberOf(p.ID)
			if _, told := l.state.Settled(p.ID); !told && p.Status == shoal.PendingOpen {
				return l.printText(fmt.Sprintf("! %d counts, and waits for more approvals", l.numberOf(p.ID)))
			}
			return nil
		}, err
	})
	return nil
}
