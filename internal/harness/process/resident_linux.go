package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Resident returns the resident memory of all process groups on this machine, in bytes. A page that
// several processes share counts for each of them. A process that has left its group counts in its own.
func Resident() (map[int]int64, error) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	if len(stats) == 0 {
		return nil, errors.New("the memory of programs cannot be measured: /proc shows no processes")
	}
	groups, page := map[int]int64{}, int64(os.Getpagesize())
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// After the name, which may contain everything: state, parent, group (3rd) … resident pages (22nd).
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 22 {
			continue
		}
		group, err := strconv.Atoi(string(fields[2]))
		pages, pagesErr := strconv.ParseInt(string(fields[21]), 10, 64)
		if err == nil && pagesErr == nil {
			groups[group] += pages * page
		}
	}
	return groups, nil
}
