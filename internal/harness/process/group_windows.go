package process

import (
	"os"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that contains the process and everything that it starts.
type group struct {
	mu  sync.Mutex
	job windows.Handle
}

func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// add puts the process into a job that ends with this process.
func (g *group) add(p *os.Process) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		var process windows.Handle
		if process, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, process)
			_ = windows.CloseHandle(process) // the job has its own
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.job = job
	return nil
}

// release does nothing: the job ends with this process.
func (g *group) release() {}

// terminate kills: Windows has no signal that asks a program without a window to end.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return
	}
	_ = windows.TerminateJobObject(g.job, 1) // nobody may be left
	_ = windows.CloseHandle(g.job)
	g.job = 0
}
