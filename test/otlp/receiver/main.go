// Command receiver is the OTLP receiver of the OpenTelemetry Collector, with an output for
// tests: it listens for OTLP over HTTP on the address that it is given, and writes each
// request that it has accepted as a line of OTLP's JSON. The end of its input ends it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: receiver HOST:PORT"))
	}
	if err := serve(context.Background(), os.Args[1]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "receiver:", err)
	os.Exit(1)
}

// serve receives until the input ends.
func serve(ctx context.Context, addr string) error {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": addr}}})
	if err := settings.Unmarshal(config); err != nil {
		return err
	}
	var mu sync.Mutex
	line := func(text []byte, err error) error {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			_, err = fmt.Printf("%s\n", text)
		}
		return err
	}
	spans, err := consumer.NewTraces(func(_ context.Context, all ptrace.Traces) error {
		return line(new(ptrace.JSONMarshaler).MarshalTraces(all))
	})
	if err != nil {
		return err
	}
	figures, err := consumer.NewMetrics(func(_ context.Context, all pmetric.Metrics) error {
		return line(new(pmetric.JSONMarshaler).MarshalMetrics(all))
	})
	if err != nil {
		return err
	}
	set := receivertest.NewNopSettings(factory.Type())
	traces, err := factory.CreateTraces(ctx, set, config, spans)
	if err != nil {
		return err
	}
	metrics, err := factory.CreateMetrics(ctx, set, config, figures) // of the same server
	if err != nil {
		return err
	}
	host := componenttest.NewNopHost()
	if err := traces.Start(ctx, host); err != nil {
		return err
	}
	if err := metrics.Start(ctx, host); err != nil {
		return err
	}
	fmt.Println("{}") // it listens
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := traces.Shutdown(ctx); err != nil {
		return err
	}
	return metrics.Shutdown(ctx)
}
