package servertest

import "syscall"

// dieWithParent makes a server end with the test, whatever ends that.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
