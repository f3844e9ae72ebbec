package coresql

import (
	"bytes"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const noFile = "File %q not found."

// InsertFile implements [hub.FileTx].
func (t *Tx) InsertFile(session shoal.SessionID, f shoal.File, by shoal.EntityID, at shoal.Time, data []byte) error {
	if data == nil {
		data = []byte{} // the column is NOT NULL
	}
	n, err := t.c.Exec(
		`INSERT INTO files (session_id, id, name, media_type, size, url, by_entity, at, data)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		session, f.ID, f.Name, f.MediaType, f.Size, f.URL, by, at, data)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertFile", "The file id %q is taken.", f.ID)
	}
	return err
}

// File implements [hub.FileTx].
func (t *Tx) File(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, data []byte, err error) {
	f, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) shoal.File {
		by = entityID(r)
		data = append([]byte{}, r.Bytes(5)...)
		return shoal.File{ID: id, Name: r.Text(1), MediaType: r.Text(2), Size: r.Int(3), URL: r.Text(4)}
	}, `SELECT by_entity, name, media_type, size, url, data FROM files WHERE session_id = $1 AND id = $2`, session, id)
	f, err = sqlconn.OrNotFound(f, ok, err, "File", noFile, id)
	return f, by, data, err
}

// DeleteFile implements [hub.FileTx].
func (t *Tx) DeleteFile(session shoal.SessionID, id shoal.FileID) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	n, err := t.c.Exec(`DELETE FROM files WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteFile", noFile, id)
	}
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`DELETE FROM file_spaces WHERE session_id = $1 AND file_id = $2`, session, id); err != nil {
		return err
	}
	type answer struct{ scope, route, key string }
	all, err := sqlconn.List(t.c, func(r *sqlconn.Rows) answer {
		if !bytes.Contains(r.Bytes(3), []byte(`"`+string(id)+`"`)) {
			return answer{}
		}
		return answer{r.Text(0), r.Text(1), r.Text(2)}
	}, `SELECT scope, route, key, body FROM answers WHERE session_id = $1 AND route = 'hub.Files.Upload'`, session)
	for _, a := range all {
		if err != nil {
			return err
		}
		if a.key != "" {
			_, err = t.c.Exec(`DELETE FROM answers WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`, session, a.scope, a.route, a.key)
		}
	}
	if err != nil {
		return err
	}
	return t.c.Overwrite(false)
}

// StoredBytes implements [hub.FileTx].
func (t *Tx) StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error) {
	return sqlconn.Number(t.c, `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM files WHERE session_id = $1 AND by_entity = $2`, session, by)
}

// FileHead implements [hub.FileTx].
func (t *Tx) FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error) {
	f, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) shoal.File {
		by = entityID(r)
		return shoal.File{ID: id, Name: r.Text(1), MediaType: r.Text(2), Size: r.Int(3), URL: r.Text(4)}
	}, `SELECT by_entity, name, media_type, size, url FROM files WHERE session_id = $1 AND id = $2`, session, id)
	f, err = sqlconn.OrNotFound(f, ok, err, "FileHead", noFile, id)
	return f, by, err
}

// ShowFile implements [hub.FileTx].
func (t *Tx) ShowFile(session shoal.SessionID, id shoal.FileID, space shoal.SpaceID) error {
	n, err := t.c.Exec(
		`INSERT INTO file_spaces (session_id, file_id, space_id)
		 SELECT f.session_id, f.id, $3 FROM files AS f WHERE f.session_id = $1 AND f.id = $2 ON CONFLICT DO NOTHING`, session, id, space)
	if err != nil || n > 0 {
		return err
	}
	known, err := sqlconn.Exists(t.c, `SELECT 1 FROM files WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && !known {
		err = sqlconn.NotFound("ShowFile", noFile, id)
	}
	return err
}

// FileShownTo implements [hub.FileTx].
func (t *Tx) FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) ([]shoal.SpaceID, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.SpaceID { return shoal.SpaceID(r.Text(0)) },
		`SELECT f.space_id FROM file_spaces AS f WHERE f.session_id = $1 AND f.file_id = $2
		 AND ($3 = '' OR EXISTS (SELECT 1 FROM members AS m WHERE m.session_id = f.session_id AND m.space_id = f.space_id AND m.entity_id = $3))`, session, id, entity)
}
