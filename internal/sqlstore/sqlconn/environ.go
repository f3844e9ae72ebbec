package sqlconn

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal"
)

// Programs says how PostgreSQL's own programs reach a database.
type Programs struct {
	// Environ has the connection as variables, so that no password is in a list of processes.
	Environ []string
	// Schema is the schema of the tables, empty for the default.
	Schema string
}

// PostgresPrograms returns how PostgreSQL's programs reach the database of a URL.
func PostgresPrograms(text string) (Programs, error) {
	config, err := pgx.ParseConfig(text)
	at, failed := url.Parse(text)
	if err != nil || failed != nil {
		// The cause quotes the URL, and that may contain a password.
		return Programs{}, shoal.E("sqlstore.Save", shoal.InvalidArgument, "The database URL is not one that PostgreSQL understands: postgres://USER:PASSWORD@HOST:PORT/NAME.")
	}
	p := Programs{Schema: config.RuntimeParams["search_path"]}
	set := func(name, value string) {
		if value != "" {
			p.Environ = append(p.Environ, name+"="+value)
		}
	}
	set("PGHOST", config.Host)
	set("PGPORT", strconv.Itoa(int(config.Port)))
	set("PGUSER", config.User)
	set("PGPASSWORD", config.Password)
	set("PGDATABASE", config.Database)
	for name, values := range at.Query() {
		if strings.HasPrefix(name, "ssl") && len(values) > 0 { // sslmode, sslrootcert, …
			set("PG"+strings.ToUpper(name), values[0])
		}
	}
	return p, nil
}
