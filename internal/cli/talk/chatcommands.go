package talk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// lineHelp is the output of /help.
const lineHelp = `TEXT                  post TEXT; @ID mentions a member
//TEXT                post /TEXT
/approvals            list what is waiting for you, with a number to use as ID
/approve ID [REASON]  allow what an agent asks for
/deny ID [REASON]     deny it
/answer ID VALUE      answer a question, or provide the result of a tool (JSON or text)
/answer ID            answer field by field
/cancel               stop answering field by field
/stop [AGENT]         stop the agent that is active in the space
/search WORDS         find messages in your spaces
/spaces               list your spaces
/join SPACE           switch to another space
/members              list the members of the space
/quit                 quit, like the end of the input`

// execute executes an input line.
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
		"/stop":      l.stop,
		"/search":    l.search,
		"/cancel":    func(context.Context, string) error { return nil },
		"/quit":      func(context.Context, string) error { l.inputEnded = true; return nil },
	}
	do := commands[word]
	if do == nil {
		l.reportFailure(shoal.E("", cli.KindUsage, fmt.Sprintf("unknown command %s; to post it, type //", word)))
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
		if sp.Status == shoal.SpaceStatusClosed {
			row += ", closed"
		}
		row += countSuffix(sp.UnreadCount, "unread") + countSuffix(sp.MentionCount, "mentioning you") + countSuffix(int64(len(l.state.Waiting(sp.ID))), "waiting for you")
		rows = append(rows, row)
	}
	return l.printList(all, rows)
}

// countSuffix returns ", n what", and nothing for 0.
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

// members lists the members of the space with their current states.
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
			if sp := l.state.Space(l.space); !sp.Complete() {
				rows = append(rows, fmt.Sprintf("and %d more: shoal spaces show %s lists all", sp.MemberCount-int64(len(sp.Members)), l.space))
			}
			return l.printList(members, rows)
		}, err
	})
	return nil
}

// stop cancels the newest run of an agent in the space, or of the only one that is active.
func (l *lineChat) stop(ctx context.Context, rest string) error {
	space, agent := l.space, shoal.EntityID(strings.TrimPrefix(rest, "@"))
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		active, err := cli.Collect(l.session.Runs(ctx, client.RunsOptions{Space: space, Status: chat.ActiveStatuses}))
		if err != nil {
			return nil, err
		}
		run, err := chat.RunToStop(active.Items, agent)
		if err == nil {
			run, err = l.session.CancelRun(ctx, run.ID)
		}
		return func() error {
			if l.shell.Output.JSON {
				return l.shell.Output.PrintObject(run)
			}
			l.shell.Output.Note("stopped %s", run.AgentID)
			return nil
		}, err
	})
	return nil
}

// maxHits limits the hits of /search.
const maxHits = 20

// search finds messages in all spaces.
func (l *lineChat) search(ctx context.Context, query string) error {
	if query == "" {
		return shoal.E("", cli.KindUsage, "say what to search for: /search WORDS")
	}
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		hits := cli.List[shoal.Hit]{Items: []shoal.Hit{}}
		for hit, err := range l.session.Search(ctx, query, client.SearchOptions{Page: maxHits}) {
			if err != nil {
				return nil, err
			}
			if hits.Items = append(hits.Items, hit); len(hits.Items) == maxHits {
				break
			}
		}
		return func() error {
			rows := []string{}
			for _, h := range hits.Items {
				rows = append(rows, fmt.Sprintf("%s %d %s: %s", h.Space.ID, h.Message.Seq, h.Message.EntityID, safetext.Line(h.Highlight)))
			}
			if len(rows) == 0 && !l.shell.Output.JSON {
				rows = []string{"no message in your spaces matches"}
			}
			return l.printList(hits, rows)
		}, nil
	})
	return nil
}

// approvals lists the pending actions.
func (l *lineChat) approvals(context.Context, string) error {
	all := cli.List[shoal.PendingAction]{Items: slices.Clone(l.state.All())}
	if l.shell.Output.JSON {
		return l.shell.Output.PrintObject(all)
	}
	if len(all.Items) == 0 {
		return l.printText("nothing is waiting for you")
	}
	for _, p := range all.Items {
		if err := l.printPending(p); err != nil {
			return err
		}
	}
	return nil
}

// pending finds a pending action by its id or number.
func (l *lineChat) pending(name string) (shoal.PendingAction, error) {
	if name == "" {
		return shoal.PendingAction{}, shoal.E("", cli.KindUsage, "name a pending action by its id or number; /approvals lists them")
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
	return shoal.PendingAction{}, shoal.E("", shoal.NotFound, fmt.Sprintf("pending action %q not found; /approvals lists what is waiting for you", name))
}

func (l *lineChat) decide(ctx context.Context, rest string, yes bool) error {
	name, reason, _ := strings.Cut(rest, " ")
	p, err := l.pending(name)
	if err != nil {
		return err
	}
	if p.Kind != shoal.PendingPermission {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("%s is not a permission; answer it with /answer %s", name, name))
	}
	return l.sendAnswer(ctx, p.ID, chat.Decision(yes, false, strings.TrimSpace(reason)))
}

// answer answers a pending action, or starts to ask for the answer field by field.
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

// printField prints the current field of the form.
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

// enterField enters an input line into the form.
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

// sendAnswer answers a pending action. It refuses to while the connection is lost, because the
// outcome would remain unknown.
func (l *lineChat) sendAnswer(ctx context.Context, id shoal.PendingID, a shoal.PendingAnswer) error {
	if !l.state.Live {
		return shoal.E("", shoal.Busy, "the connection is lost: answer again after it is restored")
	}
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		p, err := l.session.AnswerPending(ctx, id, a)
		return func() error {
			l.numberOf(p.ID)
			if _, settled := l.state.Settled(p.ID); !settled && p.Status == shoal.PendingOpen {
				return l.printText(fmt.Sprintf("! %d your vote counts; more votes are needed", l.numberOf(p.ID)))
			}
			return nil
		}, err
	})
	return nil
}
