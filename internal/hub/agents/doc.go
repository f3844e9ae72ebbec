// Package agents stores the configurations of hosted agents with their versions, and gives
// access to what an agent remembers: its memories, goals and conversations.
package agents
