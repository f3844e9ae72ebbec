package agent

import "fmt"

// A step with a handoff is the last of its agent; the machine then asks for the rules of the
// next one. Where the turn is resumed, it replays this with the rules of each step.

// acceptHandoff settles a permitted call of a handoff. The conversation is transferred when the
// step ends.
func (m *machine) acceptHandoff(c *callState, to string) {
	switch taken := transferredTo(m.results()); {
	case taken != "":
		m.settle(c, ResultSkipped, fmt.Sprintf("Error: not executed, because this step transfers the conversation to %s.", taken))
	case m.handoffs >= maxHandoffs:
		m.settle(c, ResultFailed, fmt.Sprintf("Error: this turn was transferred %d times already. Answer yourself.", maxHandoffs))
	default:
		c.transferredTo = to
		m.settle(c, ResultOK, "Transferred to "+to+".")
	}
}

// transfer continues the turn with the rules of another agent.
func (m *machine) transfer(r *rules) {
	m.emit(Transferred{Step: m.step.Index, From: m.rules.agent, To: r.agent})
	m.rules = r
	m.handoffs++
	m.begins = m.step.Index
	m.maxSteps = m.begins + r.opts.MaxSteps
	m.before = budget{tokens: m.tokens(), cost: m.cost}
	m.model, m.failed, m.errors, m.closing, m.output = 0, nil, 0, "", nil
	if n := len(r.models); n > 1 {
		m.failed = make([]error, n)
	}
	clear(m.repeats)
	m.phase = phaseStep
}

// budget is what a turn has used at some time.
type budget struct {
	tokens int64
	cost   float64
}

func (m *machine) tokens() int64 { return m.usage.InputTokens + m.usage.OutputTokens }

// spend adds what the present agent has used.
func (m *machine) spend(u Usage, cost float64) {
	m.usage, m.cost = m.usage.Add(u), m.cost+cost
	if m.rules.team == nil {
		return
	}
	for i := range m.shares {
		if s := &m.shares[i]; s.Agent == m.rules.agent {
			s.Usage, s.Cost = s.Usage.Add(u), s.Cost+cost
			return
		}
	}
	m.shares = append(m.shares, Spending{Agent: m.rules.agent, Usage: u, Cost: cost})
}
