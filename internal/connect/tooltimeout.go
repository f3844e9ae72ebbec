package connect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// patienceUnits are the keys that limit how long a call of a tool may take, with the
// units that they count in.
var patienceUnits = map[string]time.Duration{"timeout": time.Millisecond, "tool_timeout_sec": time.Second}

// ToolTimeout returns how long the client waits for a tool call of an entry: set is 0 if
// the entry does not say it. wanted is what [Config.With] would write, 0 for a client
// that has no such setting.
func (c *Config) ToolTimeout(name string) (set, wanted time.Duration, err error) {
	client, is := c.editor.(*Client)
	if !is {
		return 0, 0, nil
	}
	for _, f := range client.entry(name, Target{}) {
		if seconds, is := f.value.(int); is {
			wanted = time.Duration(seconds) * patienceUnits[f.name]
		}
	}
	found, err := client.read(c.text, name)
	if err != nil {
		return 0, wanted, c.refuse("connect.ToolTimeout", err)
	}
	for key, unit := range patienceUnits {
		text := fmt.Sprint(found[key])
		if raw, is := found[key].(json.RawMessage); is {
			text = string(raw)
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			set = time.Duration(n * float64(unit))
		}
	}
	return set, wanted, nil
}
