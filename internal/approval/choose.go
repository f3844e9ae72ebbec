package approval

import "encoding/json"

// Choice describes calls that are alternatives. Field is the member of a result that says
// whether the call was chosen; it is empty if the result itself is true or false.
type Choice struct {
	Field string
}

// Chosen reports whether a result chooses its call.
func (c Choice) Chosen(result json.RawMessage) bool {
	if c.Field == "" {
		var chosen bool
		return json.Unmarshal(result, &chosen) == nil && chosen
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(result, &object) == nil && Choice{}.Chosen(object[c.Field])
}

// NotChosen returns the result of the other calls once one is chosen.
func (c Choice) NotChosen() json.RawMessage {
	if c.Field == "" {
		return json.RawMessage("false")
	}
	result, err := json.Marshal(map[string]bool{c.Field: false})
	if err != nil { // a name and a boolean can always be encoded
		panic(err)
	}
	return result
}
