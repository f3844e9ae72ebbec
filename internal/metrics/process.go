package metrics

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// Process registers metrics of the process itself: the version of the program, goroutines,
// memory, garbage collection, CPU time, and, where the system reports them, open files and
// their limit.
func (s *Set) Process(version string) {
	began := time.Now()
	built := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		built = info.GoVersion
	}
	s.Gauges("shoal_build_info", "1 for the version of the program and of Go that it was built with.", "version", "go").With(version, built).Set(1)
	s.GaugeFunc("shoal_uptime_seconds", "Since the server started.", func() float64 { return time.Since(began).Seconds() })
	s.GaugeFunc("go_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	for _, m := range []struct{ name, help, from string }{
		{"go_heap_objects_bytes", "Memory of objects on the heap, those included that nobody uses any more.", "/memory/classes/heap/objects:bytes"},
		{"go_memory_bytes", "Memory that the Go runtime has from the system.", "/memory/classes/total:bytes"},
		{"go_heap_goal_bytes", "Size of the heap at which the next garbage collection ends.", "/gc/heap/goal:bytes"},
	} {
		s.GaugeFunc(m.name, m.help, func() float64 { return readRuntime(m.from) })
	}
	for _, m := range []struct{ name, help, from string }{
		{"go_gc_cycles_total", "Garbage collections.", "/gc/cycles/total:gc-cycles"},
		{"go_gc_cpu_seconds_total", "Estimated time of the processor that garbage collection took.", "/cpu/classes/gc/total:cpu-seconds"},
		{"go_allocated_bytes_total", "Memory that was allocated.", "/gc/heap/allocs:bytes"},
	} {
		s.CounterFunc(m.name, m.help, func() float64 { return readRuntime(m.from) })
	}
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		return // other systems report these differently, or not at all
	}
	s.GaugeFunc("process_resident_memory_bytes", "Memory of the process.", residentMemory)
	s.GaugeFunc("process_open_fds", "Open files and connections.", openFiles)
	s.GaugeFunc("process_max_fds", "How many files and connections may be open.", func() float64 { return float64(MaxFiles()) })
	s.CounterFunc("process_cpu_seconds_total", "Time of the processor.", processorTime)
}

func readRuntime(name string) float64 {
	one := []metrics.Sample{{Name: name}}
	metrics.Read(one)
	switch one[0].Value.Kind() {
	case metrics.KindUint64:
		return float64(one[0].Value.Uint64())
	case metrics.KindFloat64:
		return one[0].Value.Float64()
	}
	return 0 // a later version of Go does not have the metric
}

// field returns the number at a word index of a file in /proc, 0 if it is missing.
func field(file string, behind []byte, index int) float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if at := bytes.LastIndex(text, behind); len(behind) > 0 && at >= 0 {
		text = text[at+len(behind):]
	}
	words := bytes.Fields(text)
	if index >= len(words) {
		return 0
	}
	n, _ := strconv.ParseFloat(string(words[index]), 64) // a word such as unlimited: 0
	return n
}

func residentMemory() float64 {
	return field("/proc/self/statm", nil, 1) * float64(os.Getpagesize())
}

func openFiles() float64 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(entries) - 1) // without the descriptor of this read
}

// MaxFiles returns the limit of open files and connections of the process, 0 where the system
// does not report it.
func MaxFiles() int { return int(field("/proc/self/limits", []byte("Max open files"), 0)) }

// processorTime returns the CPU time in user and kernel mode. Linux reports it in hundredths of a second.
func processorTime() float64 {
	const user, system = 11, 12 // after the name of the process
	return (field("/proc/self/stat", []byte(") "), user) + field("/proc/self/stat", []byte(") "), system)) / 100
}
