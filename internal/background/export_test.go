package background

// SystemdUnit is the unit of a definition.
func SystemdUnit(s Service, d Definition) string { return s.systemdUnit(d) }

// LaunchdJob is the job of a definition.
func LaunchdJob(s Service, d Definition) (string, error) { return s.launchdJob(d) }
