package main

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(sh *shell) error {
	b := sh.stamp.build()
	return sh.output.table(b, []string{"VERSION", "COMMIT", "DATE", "GO", "PLATFORM"}, []string{b.Version, b.Commit, b.Date, b.Go, b.OS + "/" + b.Arch})
}
