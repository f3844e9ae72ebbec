package app

import (
	"context"
	"net/url"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/otlp"
	"github.com/shoal-dev/shoal/internal/run"
)

// headersVariable has the headers of requests to the receiver of --otlp: they contain keys,
// which a flag would show to everybody on the machine.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

// flushWithin is how long Stop waits for the receiver of --otlp.
const flushWithin = 2 * time.Second

// checkOTLP returns an error if --otlp cannot work.
func (c *Config) checkOTLP() error {
	if c.OTLP == "" {
		if c.OTLPContent {
			return shoal.E("app.Config", shoal.InvalidArgument, "--otlp-content needs --otlp URL.")
		}
		return nil
	}
	if _, err := otlp.CheckEndpoint(c.OTLP); err != nil {
		return err
	}
	_, err := otlp.ParseHeaders(c.Keys(headersVariable))
	return err
}

// otlpSecrets returns what of the settings of --otlp must not be logged.
func (c *Config) otlpSecrets() (secrets []string) {
	if at, err := url.Parse(c.OTLP); err == nil {
		password, _ := at.User.Password()
		secrets = append(secrets, password)
	}
	headers, _ := otlp.ParseHeaders(c.Keys(headersVariable)) // checkOTLP reports it
	for _, value := range headers {
		secrets = append(secrets, value)
	}
	return secrets
}

// startTelemetry starts what sends traces and metrics, if there is to be one.
func (s *Server) startTelemetry() (err error) {
	c := s.config
	if c.OTLP == "" {
		return nil
	}
	headers, err := otlp.ParseHeaders(c.Keys(headersVariable))
	if err != nil {
		return err
	}
	s.telemetry, err = otlp.Start(otlp.Options{
		Endpoint: c.OTLP, Headers: headers, Content: c.OTLPContent, Version: c.Version, Node: c.Node, Log: c.Log, Metrics: s.metrics,
	})
	return err
}

// tracer records runs.
type tracer struct{ *otlp.Telemetry }

func (t tracer) Observer(r storage.Run) agent.Observer { return t.Telemetry.Observer(traced(r)) }

func (t tracer) TraceID(r storage.Run) string { return traced(r).TraceID() }

// traced returns a run as its spans name it.
func traced(r storage.Run) otlp.Run {
	return otlp.Run{Session: r.SessionID, ID: r.ID, Space: r.Trigger.SpaceID, Agent: r.AgentID, Parent: r.TraceParent}
}

// traces returns what records runs, nil without --otlp.
func (s *Server) traces() run.Tracer {
	if s.telemetry == nil {
		return nil
	}
	return tracer{s.telemetry}
}

// stopTelemetry sends what was recorded, beside the other steps of Stop, and closes the
// returned channel when it has stopped.
func (s *Server) stopTelemetry() <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
		defer cancel()
		s.telemetry.Stop(ctx)
	}()
	return stopped
}
