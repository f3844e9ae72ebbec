package archivesql

import "strings"

// RecordColumns are the columns of the tables that exports hold, as table.column.
func RecordColumns() (all []string) {
	for _, table := range recordTables {
		for _, column := range table.allColumns() {
			_, name, qualified := strings.Cut(column, ".")
			if !qualified {
				name = column
			}
			all = append(all, table.table+"."+name)
		}
	}
	return all
}

// RecordWidth is how many columns the records of a type have.
func RecordWidth(name string) int { return len(recordTables[name].columns) }
