// Package crowd is all clients of a server under test, what they observe, and the checks of
// it. It is for tests of faults: the crowd keeps its history in the process of the test,
// which no fault affects.
//
//	c := crowd.New(t, crowd.Options{URL: server.URL(), Key: key, Seed: seed, Agents: 2})
//	// … c.Writers, c.Waiters and c.Readers run while faults strike
//	c.Settle(t, server.Life)
//	c.Check(t, true)
//	for _, finding := range c.Found { t.Error(finding) }
//
// The parts:
//   - writers post over REST and MCP, and repeat a post without a response under the same
//     key. Waiters acknowledge explicitly, implicitly or not at all. Readers resume their
//     streams. Jobbers give jobs to hosted agents whose tools write a ledger;
//   - a history is what all clients sent and received. A missing response makes an outcome
//     unknown, never a failure;
//   - the checker is a pure function, so that histories with planted faults can prove that
//     it finds each of them. In addition, Porcupine searches for one order of all posts and
//     reads of a space that explains every response.
package crowd
