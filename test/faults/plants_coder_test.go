package faults

import "time"

// coderBugs are defects in how a server, a program and a runner agree about a turn.
var coderBugs = []named{
	{"a turn is not remembered", "a runner does not note how far its agent has got"},
	{"a program takes its own run", "a claim returns a run that its program executes"},
}

func coderPlants() []plant {
	return []plant{
		{
			"internal/app/execute.go", "Lease: s.config.ProgramLease,", "Lease: rigLease(),",
		},
		{
			"internal/runner/unknown.go", "	left, found := x.mark()\n",
			"	left, found := x.mark()\n	if rigHas(\"a turn is not remembered\") {\n		left, found = mark{}, false\n	}\n",
		},
		{
			"internal/hub/runs/remote.go", "return slices.Contains(in.Holds, r.ID) })\n",
			"return slices.Contains(in.Holds, r.ID) && !rigHas(\"a program takes its own run\") })\n",
		},
	}
}

// leaseOf returns the environment variable with which the leases of programs have another length.
func leaseOf(d time.Duration) string { return "RIG_LEASE=" + d.String() }

const rigLease = `package app

import (
	"os"
	"time"
)

func rigLease() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("RIG_LEASE"))
	return d
}
`
