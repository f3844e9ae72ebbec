// Package agents keeps the configurations of hosted agents with their versions, and what an
// agent remembers: its notes, goals and conversations.
package agents
