package wakehook

import (
	"golang.org/x/sys/windows"
)

// gone reports whether the owner has ended.
func (o owner) gone() bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(o.pid))
	if err != nil {
		return true
	}
	event, err := windows.WaitForSingleObject(process, 0)
	_ = windows.CloseHandle(process) // it was only asked
	return err == nil && event == windows.WAIT_OBJECT_0
}
