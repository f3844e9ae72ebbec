package docsite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// withAll adds to the list of pages those that it does not name, so that it is complete:
// decisions, and pages that somebody has written since.
func withAll(list string, titles map[string]string) string {
	var more, decisions strings.Builder
	for _, at := range slices.Sorted(maps.Keys(titles)) {
		if strings.Contains(list, "]("+at+")") {
			continue
		}
		to := &more
		if strings.HasPrefix(at, "/docs/decisions/") {
			to = &decisions
		}
		fmt.Fprintf(to, "- [%s](%s)\n", strings.NewReplacer("[", "(", "]", ")").Replace(titles[at]), at)
	}
	const optional = "## Optional\n"
	before, after, _ := strings.Cut(list, optional)
	if more.Len() > 0 {
		before += "## More\n\n" + more.String() + "\n"
	}
	return before + optional + strings.TrimRight(after, "\n") + "\n" + decisions.String()
}
