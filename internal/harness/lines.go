package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine bounds one message of a harness, in bytes.
const maxLine = 16 << 20

// ReadLines calls each with every line until the input ends. A line that is longer than any message
// should be is an error.
func ReadLines(in io.Reader, each func([]byte)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		each(lines.Bytes())
	}
	return lines.Err()
}

// WriteLine writes a message as one line of JSON, in one piece. The error is ErrClosed if the other
// side does not read any more.
func WriteLine(out io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return ErrClosed
	}
	return nil
}
