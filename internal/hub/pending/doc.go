// Package pending keeps pending actions: approvals, questions, forms and waits for a reply
// that a run has opened. It decides who may answer, stores votes and answers, remembers
// decisions for later calls, and settles actions whose time is up.
package pending
