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

// Process adds what there is to know of the process itself: the version of the
// program, goroutines, memory, garbage collection, time of the processor, and,
// where the system tells them, open files and their limit.
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
		return // the system tells these in other ways, or not at all
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
	return 0 // a later Go does not know it any more
}

// field returns a number among the words of a file of /proc, 0 if it is not there.
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
	return float64(len(entries) - 1) // without the one that this reading opens
}

// MaxFiles is how many files and connections the process may open, 0 where the
// system does not tell.
func MaxFiles() int { return int(field("/proc/self/limits", []byte("Max open files"), 0)) }

// processorTime is in user and kernel mode; Linux tells it in hundredths.
func processorTime() float64 {
	const user, system = 11, 12 // behind the name of the process
	return (field("/proc/self/stat", []byte(") "), user) + field("/proc/self/stat", []byte(") "), system)) / 100
}
