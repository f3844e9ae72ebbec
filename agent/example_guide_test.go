package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The examples are quoted by docs/agent.md. Scripts play the models.

func weather() agent.Tool {
	return agent.Func("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "rain in " + in.City, nil })
}

func callsWeather() agent.Model {
	return script.New(
		script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}},
		script.Answer{Text: "Take an umbrella."},
	)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ExampleAgent_Stream() {
	ctx := context.Background()
	a := must(agent.New(callsWeather(), agent.Options{Tools: []agent.Tool{weather()}}))
	for event, err := range a.Stream(ctx, agent.NewConversation(), agent.Say("Do I need an umbrella?")) {
		if err != nil {
			fmt.Println("the turn could not begin:", err)
			return
		}
		switch e := event.(type) {
		case agent.TextDelta:
			fmt.Print(e.Text)
		case agent.ToolFinished:
			fmt.Println("tool:", e.Result.Status, e.Result.Text)
		case agent.TurnFinished:
			fmt.Println("\nturn:", e.Outcome, e.Reason, e.Steps)
		}
	}
	// Output:
	// tool: ok rain in Kiel
	// Take an umbrella.
	// turn: completed done 2
}

// A tool that somebody else executes: the turn waits for its result.
func ExampleExternal() {
	ctx := context.Background()
	model := script.New(
		script.Answer{Calls: []agent.ToolCall{{Name: "pick_color", Arguments: `{}`}}},
		script.Answer{Text: "Blue it is."},
	)
	pick := agent.External(agent.ToolSpec{Name: "pick_color", Description: "Shows a color picker."})
	a := must(agent.New(model, agent.Options{Tools: []agent.Tool{pick}}))
	c := agent.NewConversation()

	waiting := must(a.Run(ctx, c, agent.Say("Paint it.")))
	fmt.Println(waiting.Outcome, waiting.Pending[0].Kind, waiting.Pending[0].Call.Name)

	// Seconds or days later, in this process or, with a store that stays, in another:
	for _, p := range must(c.Pending(ctx)) {
		if err := c.Answer(ctx, agent.Answer{PendingID: p.ID, Text: "blue"}); err != nil {
			panic(err)
		}
	}
	result := must(a.Run(ctx, c)) // no input: the turn goes on where it was
	fmt.Println(result.Outcome, result.Text())
	// Output:
	// waiting client_call pick_color
	// completed Blue it is.
}

func ExampleTyped() {
	type place struct {
		City    string `json:"city"`
		Country string `json:"country" jsonschema:"ISO code"`
	}
	ctx := context.Background()
	a := must(agent.New(script.PerTurn(script.Answer{Text: `{"city":"Kiel","country":"DE"}`}), agent.Options{}))

	where, err := agent.Typed[place](ctx, a, "Where is the Kieler Woche?")
	if err != nil {
		panic(err)
	}
	fmt.Println(where.City, where.Country)
	// Output: Kiel DE
}

// Condition is one of Above and All, which contains further ones.
type Condition interface{ holds(celsius float64) bool }

type Above struct {
	Celsius float64 `json:"celsius"`
}

type All struct {
	Of []agent.OneOf[Condition] `json:"of"`
}

func (a Above) holds(celsius float64) bool { return celsius > a.Celsius }

func (a All) holds(celsius float64) bool {
	return !slices.ContainsFunc(a.Of, func(c agent.OneOf[Condition]) bool { return !c.Value.holds(celsius) })
}

func init() {
	agent.RegisterOneOf(map[string]Condition{"above": Above{}, "all": All{}})
}

func ExampleOneOf() {
	type alarm struct {
		When agent.OneOf[Condition] `json:"when"`
	}
	check := agent.Func("alarm", "Reports whether it would ring at 20 °C.", func(_ context.Context, in alarm) (bool, error) {
		return in.When.Value.holds(20), nil
	})
	model := script.New(
		script.Answer{Calls: []agent.ToolCall{{Name: "alarm", Arguments: `{"when":{"type":"all","of":[{"type":"above"}]}}`}}},
		script.Answer{Calls: []agent.ToolCall{{Name: "alarm", Arguments: `{"when":{"type":"all","of":[{"type":"above","celsius":12}]}}`}}},
		script.Answer{Text: "It rings."},
	)
	a := must(agent.New(model, agent.Options{Tools: []agent.Tool{check}}))
	result := must(a.Run(context.Background(), agent.NewConversation(), agent.Say("Ring above 12 °C.")))
	for _, m := range result.Messages {
		for _, r := range m.Results() {
			fmt.Println(r.Text)
		}
	}
	// Output:
	// Error: arguments.when.of[0].celsius: is missing
	// true
}

// A turn that uses all of its steps ends with what the model knows by then.
func ExampleOptions_closingAnswer() {
	ctx := context.Background()
	model := script.New(
		script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}},
		script.Answer{Text: "It rains in Kiel; I have not looked at other places."},
	)
	a := must(agent.New(model, agent.Options{Tools: []agent.Tool{weather()}, MaxSteps: 1}))
	result := must(a.Run(ctx, agent.NewConversation(), agent.Say("Look everywhere.")))
	fmt.Println(result.Outcome, result.Reason+":", result.Text())
	// Output:
	// completed max_steps: It rains in Kiel; I have not looked at other places.
}

func ExampleAgent_Ask() {
	ctx := context.Background()
	a := must(agent.New(callsWeather(), agent.Options{Tools: []agent.Tool{weather()}}))
	answer, err := a.Ask(ctx, "Do I need an umbrella in Kiel?")
	if err != nil {
		panic(err)
	}
	fmt.Println(answer)
	// Output: Take an umbrella.
}

func ExampleStructured() {
	type place struct {
		City    string `json:"city"`
		Country string `json:"country" jsonschema:"ISO code"`
	}
	model := script.New(script.Answer{Text: `{"city":"Kiel","country":"DE"}`})
	a := must(agent.New(model, agent.Options{Output: &agent.Structured{
		Mode:  agent.OutputNative,
		Types: []agent.OutputSchema{agent.OutputOf[place]("place", "Where it is.")},
	}}))
	result := must(a.Run(context.Background(), agent.NewConversation(), agent.Say("Where is the Kieler Woche?")))
	where := must(agent.Decode[place](result))
	fmt.Println(where.City, where.Country)
	// Output: Kiel DE
}

func ExampleAsTool() {
	clerk := must(agent.New(callsWeather(), agent.Options{
		Name: "clerk", Description: "Knows the weather.", Tools: []agent.Tool{weather()},
	}))
	boss := must(agent.New(
		script.New(
			script.Answer{Calls: []agent.ToolCall{{Name: "clerk", Arguments: `{"input":"Umbrella in Kiel?"}`}}},
			script.Answer{Text: "Yes."},
		),
		agent.Options{Name: "boss", Tools: []agent.Tool{agent.AsTool(clerk, agent.SubAgent{WithoutPermission: true})}},
	))
	for event, err := range boss.Stream(context.Background(), agent.NewConversation(), agent.Say("Umbrella?")) {
		if err != nil {
			panic(err)
		}
		switch e := event.(type) {
		case agent.Nested:
			if done, ok := e.Event.(agent.TurnFinished); ok {
				fmt.Println(e.Chain, done.Outcome)
			}
		case agent.ToolFinished:
			fmt.Println(e.Result.Name, "says:", e.Result.Text)
		}
	}
	// Output:
	// [boss clerk] completed
	// clerk says: Take an umbrella.
}

// The first model breaks off in the middle of its answer, and the second one answers.
func ExampleFallback() {
	failure := &agent.ModelError{Class: agent.ClassOverloaded, Provider: "first"}
	first := script.New(script.Answer{Text: "Take an", Err: failure})
	second := script.New(script.Answer{Text: "It is raining."})

	a := must(agent.New(agent.Fallback(first, second), agent.Options{}))
	for event, err := range a.Stream(context.Background(), agent.NewConversation(), agent.Say("Umbrella?")) {
		if err != nil {
			panic(err)
		}
		switch e := event.(type) {
		case agent.TextDelta:
			fmt.Printf("%q ", e.Text)
		case agent.MessageEnded:
			fmt.Println("discarded:", e.Discarded)
		case agent.ModelRetrying:
			fmt.Println("retry:", e.Err)
		}
	}
	// Output:
	// "Take " "an" discarded: true
	// retry: first: overloaded
	// "It " "is " "raining." discarded: false
}

// A tool is demanded in the first step alone.
func ExampleMiddleware() {
	firstOnly := agent.Middleware{
		Name: "tool first",
		BeforeStep: func(_ context.Context, step int, req *agent.Request) error {
			if step > 0 {
				req.ToolChoice = agent.ToolChoice{Mode: agent.ToolsAuto}
			}
			return nil
		},
	}
	model := script.Func(func(r *agent.Request) script.Answer {
		if r.ToolChoice.Mode == agent.ToolsRequired {
			return script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}}
		}
		return script.Answer{Text: "Take an umbrella."}
	})
	a := must(agent.New(model, agent.Options{
		Tools: []agent.Tool{weather()}, ToolChoice: agent.ToolChoice{Mode: agent.ToolsRequired},
		Middleware: []agent.Middleware{firstOnly},
	}))
	fmt.Println(must(a.Run(context.Background(), agent.NewConversation(), agent.Say("Umbrella?"))).Text())
	// Output: Take an umbrella.
}

// notebook is a context provider that counts the turns of a conversation and adds the
// number to the instructions.
type notebook struct{}

func (notebook) Name() string { return "notebook" }

func (notebook) Provide(_ context.Context, in agent.ContextRequest) (agent.ProvidedContext, error) {
	return agent.ProvidedContext{Instructions: "Turns before this one: " + string(orZero(in.State))}, nil
}

func (notebook) AfterTurn(_ context.Context, in agent.EndedTurn) (json.RawMessage, error) {
	var turns int
	if err := json.Unmarshal(orZero(in.State), &turns); err != nil {
		return nil, err
	}
	return json.Marshal(turns + 1)
}

func orZero(state json.RawMessage) json.RawMessage {
	if state == nil {
		return json.RawMessage("0")
	}
	return state
}

func ExampleContextProvider() {
	model := script.Func(func(r *agent.Request) script.Answer { return script.Answer{Text: r.Instructions} })
	a := must(agent.New(model, agent.Options{Context: []agent.ContextProvider{notebook{}}}))
	c := agent.NewConversation()
	for range 2 {
		fmt.Println(must(a.Run(context.Background(), c, agent.Say("Hello."))).Text())
	}
	// Output:
	// Turns before this one: 0
	// Turns before this one: 1
}

// The user corrects the agent while it works.
func ExampleConversation_Interject() {
	ctx := context.Background()
	model := script.Func(func(r *agent.Request) script.Answer {
		if last := r.Messages[len(r.Messages)-1]; last.Text() == "No, in Bonn!" {
			return script.Answer{Text: "Looking at Bonn instead."}
		}
		return script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"City":"Kiel"}`}}}
	})
	a := must(agent.New(model, agent.Options{Tools: []agent.Tool{weather()}}))
	c := agent.NewConversation()
	for event, err := range a.Stream(ctx, c, agent.Say("Umbrella?")) {
		if err != nil {
			panic(err)
		}
		switch e := event.(type) {
		case agent.ToolStarted:
			if err := c.Interject(ctx, agent.Say("No, in Bonn!")); err != nil {
				panic(err)
			}
		case agent.Interjected:
			fmt.Println("step", e.Step, "reads:", e.Messages[0].Text())
		}
	}
	fmt.Println(must(c.Messages(ctx))[4].Text())
	// Output:
	// step 1 reads: No, in Bonn!
	// Looking at Bonn instead.
}

func ExampleConversation_Fork() {
	ctx := context.Background()
	model := script.Func(func(r *agent.Request) script.Answer { return script.Answer{Text: fmt.Sprint(len(r.Messages))} })
	a := must(agent.New(model, agent.Options{}))
	c := agent.NewConversation()
	must(a.Run(ctx, c, agent.Say("Plan a trip to Kiel.")))
	first := must(c.Messages(ctx))[1]
	must(a.Run(ctx, c, agent.Say("By train.")))

	other := must(c.Fork(ctx, first.ID)) // up to and including the first answer
	must(a.Run(ctx, other, agent.Say("By boat.")))
	fmt.Println(must(c.Count(ctx)), must(other.Count(ctx)), must(other.DisplayName(ctx)))
	// Output: 4 4 Plan a trip to Kiel.
}
