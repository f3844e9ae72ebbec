package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ExportVersion is the version of the export format that Export writes, and the only one
// that Import reads.
const ExportVersion = 1

// exportHead is the first line of an export.
type exportHead struct {
	Type       string          `json:"type"` // always "export"
	Version    int             `json:"version"`
	Server     string          `json:"server"`
	Session    shoal.SessionID `json:"session"`
	ExportedAt shoal.Time      `json:"exportedAt"`
}

// exportSum computes what the last line of an export says about all lines between it and
// the first: the number of records of each type, and their SHA-256.
type exportSum struct {
	counts map[string]int64
	digest hash.Hash
}

func newExportSum() exportSum { return exportSum{map[string]int64{}, sha256.New()} }

func (s *exportSum) add(t *storage.RecordType, line []byte) {
	s.counts[t.Name]++
	s.digest.Write(line) // a hash never fails
}

// endLine returns the last line of an export.
func (s *exportSum) endLine() []byte {
	b := []byte(`{"type":"end","records":{`)
	for i, t := range storage.RecordTypes {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%d", t.Name, s.counts[t.Name])
	}
	return fmt.Appendf(b, "},\"digest\":\"sha256:%s\"}\n", hex.EncodeToString(s.digest.Sum(nil)))
}

// exportReader reads an export line by line. Only one line is in memory.
type exportReader struct {
	in    *bufio.Reader
	sum   exportSum
	line  int // number of the line that was read last
	place int // index of the type of that line in RecordTypes
	buf   []byte
	size  int64 // bytes of the lines so far
	// The limits of an export.
	maxBytes, maxRecords, maxEntities int64
}

func newExportReader(r io.Reader) *exportReader {
	return &exportReader{
		in: bufio.NewReaderSize(r, 64<<10), sum: newExportSum(), maxBytes: storage.MaxImport, maxRecords: storage.MaxRecords, maxEntities: storage.MaxEntities,
	}
}

// errorf returns an error about the line that was read last.
func (r *exportReader) errorf(format string, args ...any) error {
	return lineError(r.line, format, args...)
}

func lineError(line int, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	place := fmt.Sprintf("line %d", line)
	return &shoal.Error{
		Kind: shoal.InvalidArgument, Msg: fmt.Sprintf("Line %d of the export is invalid: %s. Nothing was imported.", line, why),
		Fields: []shoal.FieldError{{Location: place, Message: why}},
	}
}

// nextLine reads a line, including its line break. The result is valid until the next call.
func (r *exportReader) nextLine() ([]byte, error) {
	r.buf = r.buf[:0]
	r.line++
	most := storage.MaxRecordLine
	if r.line == 1 {
		most = storage.MaxHeadLine
	}
	for {
		piece, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, piece...)
		r.size += int64(len(piece))
		switch {
		case len(r.buf) > most:
			return nil, r.errorf("it has more than %d bytes, the most that is allowed", most)
		case r.size > r.maxBytes:
			return nil, r.errorf("the export has more than %d bytes, the most that is allowed", r.maxBytes)
		case err == nil:
			return r.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, r.errorf("the export ends here without a line of the type \"end\"; it was cut off")
		default:
			return nil, err
		}
	}
}

// readHead reads and checks the first line.
func (r *exportReader) readHead() (head exportHead, err error) {
	line, err := r.nextLine()
	if err != nil {
		return head, err
	}
	members, err := storage.MembersOf(line)
	if err != nil || string(members["type"]) != `"export"` {
		return head, r.errorf("this is not an export of a session, which begins with {\"type\":\"export\"")
	}
	if head.Version, err = storage.ParseAs[int](members["version"], "a whole number"); err != nil || head.Version != ExportVersion {
		return head, r.errorf("the export has version %s, and this server reads version %d", storage.Shorten(string(members["version"])), ExportVersion)
	}
	if head.Session, err = storage.ParseAs[shoal.SessionID](members["session"], "an id"); err != nil || shoal.CheckID("session", string(head.Session)) != nil {
		return head, r.errorf("the field \"session\" is not a valid id")
	}
	return head, nil
}

// readRecord reads the next record. t is nil once the last line has been read and verified.
func (r *exportReader) readRecord() (t *storage.RecordType, values []any, err error) {
	line, err := r.nextLine()
	if err != nil {
		return nil, nil, err
	}
	rest, found := bytes.CutPrefix(line, []byte(`{"type":"`))
	name, _, quoted := bytes.Cut(rest, []byte{'"'})
	if !found || !quoted {
		return nil, nil, r.errorf("it does not begin with {\"type\":\"")
	}
	if string(name) == "end" {
		return nil, nil, r.checkEnd(line)
	}
	t, place := storage.FindRecordType(string(name))
	switch {
	case t == nil:
		return nil, nil, r.errorf("unknown type %q", storage.Shorten(string(name)))
	case r.line == 2 && t != storage.SessionRecord:
		return nil, nil, r.errorf("the first record is a %s instead of the session", t.Name)
	case place < r.place:
		return nil, nil, r.errorf("a %s follows a %s; the records must be in the order of their types", t.Name, storage.RecordTypes[r.place].Name)
	case t == storage.SessionRecord && r.line > 2:
		return nil, nil, r.errorf("there is a second session")
	}
	if values, err = t.Parse(line); err != nil {
		return nil, nil, r.errorf("%s", err)
	}
	r.place = place
	r.sum.add(t, line)
	switch {
	case int64(r.line)-1 > r.maxRecords:
		return nil, nil, r.errorf("the export has more than %d records, the most that is allowed", r.maxRecords)
	case t.Name == "entity" && r.sum.counts[t.Name] > r.maxEntities:
		return nil, nil, r.errorf("the export has more than %d entities, the most that is allowed", r.maxEntities)
	}
	return t, values, nil
}

// checkEnd verifies the last line, and that nothing follows it.
func (r *exportReader) checkEnd(line []byte) error {
	if r.line == 2 {
		return r.errorf("the export contains no session")
	}
	if !bytes.Equal(line, r.sum.endLine()) {
		return r.errorf("its counts or its digest do not match the lines before it; the export was changed or damaged")
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		if err == nil {
			r.line++
			err = r.errorf("there is another line after the line of the type \"end\"")
		}
		return err
	}
	return nil
}
