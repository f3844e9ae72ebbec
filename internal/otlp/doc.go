// Package otlp sends what the runs of hosted agents do to an OpenTelemetry receiver: traces
// and metrics by the semantic conventions for generative AI, over OTLP/HTTP in protobuf.
//
//	t, err := otlp.Start(otlp.Options{Endpoint: "http://127.0.0.1:4318", Log: log})
//	if err != nil { … }
//	defer t.Stop(ctx)
//	options.Observers = append(options.Observers, t.Observer(run))
//
// What is recorded is up to agent/telemetry. This package adds which run it was, and gives
// all executions of a run one trace, whose id follows from the id of the run: an execution
// that continues after a wait or on another server needs no stored state for it.
//
// Guarantees:
//   - A run never waits for the receiver. Spans wait in a bounded queue; what does not fit
//     and what the receiver does not accept within ten seconds is lost, and counted.
//   - A receiver that fails is reported once in the log, and once when it works again.
//   - Texts of prompts, answers, arguments and results are sent only with Options.Content.
//   - Stop returns when ctx ends, at the latest, and leaves no goroutine.
//
// OpenTelemetry's providers are global to the process, so one Telemetry can run at a time.
package otlp
