// Package filelock locks files between processes.
//
//	f, err := filelock.Try(path)
//	if err != nil { … }
//	if f == nil { … } // another process holds it
//	defer f.Close()
//
// A lock ends with its process, however that ends, so a held lock proves that the
// holder is alive: a process id in a file does not.
package filelock
