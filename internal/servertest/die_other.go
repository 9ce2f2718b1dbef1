//go:build unix && !linux

package servertest

import "syscall"

// dieWithParent keeps a server from the signals of a terminal: the test ends it.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
