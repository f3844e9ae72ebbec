package agent_test

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/storetest"
)

func TestMemoryConformance(t *testing.T) {
	storetest.Exercise(t, func(*testing.T) agent.Store { return agent.NewMemory() })
}
