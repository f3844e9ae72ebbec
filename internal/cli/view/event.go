package view

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// Decode decodes the data of an event.
func Decode[T any](e shoal.Event) (data T, err error) {
	if err = json.Unmarshal(e.Data, &data); err != nil {
		err = &shoal.Error{Kind: shoal.Internal, Msg: fmt.Sprintf("the server sent an event %s that cannot be decoded", e.Type), Err: err}
	}
	return data, err
}

// PrintEvent prints the data of an event as JSON, with the cursor that continues after it.
func PrintEvent(o *cli.Output, e shoal.Event) error {
	data := string(e.Data)
	if e.Cursor != "" && e.Type != shoal.EventSnapshot && e.Type != shoal.EventSnapshotEnd && len(data) > 2 && data[0] == '{' {
		cursor, err := quoted(e.Cursor)
		if err != nil {
			return err
		}
		data = `{"cursor":` + cursor + "," + data[1:]
	}
	return o.Write(cli.EscapeJSON(data) + "\n")
}

// quoted returns s as JSON.
func quoted[T ~string](s T) (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}
