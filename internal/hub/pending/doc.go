// Package pending manages pending actions: approvals, questions, forms and waits for a
// reply that a run has opened. It decides which entities may answer, stores votes and
// answers, remembers decisions for later calls, and settles actions that have expired.
package pending
