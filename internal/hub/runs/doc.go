// Package runs keeps the runs of hosted agents: it starts them for messages, schedules and
// services, gives the executor leases ([Work]), stores what a run writes ([RunChange]), and
// relays the text of messages in progress ([Live]). It executes nothing itself:
// internal/run does.
package runs
