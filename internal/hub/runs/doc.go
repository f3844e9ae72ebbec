// Package runs manages the runs of hosted agents: it starts them for messages, schedules
// and services, leases them to the executor ([Work]), stores what a run writes
// ([RunChange]), and relays the text of messages in progress ([Live]). It does not execute
// runs; internal/run does.
package runs
