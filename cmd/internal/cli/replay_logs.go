package cli

import (
	"fmt"
	"io"
	"os"
)

// noteTwice says on w which logs are named twice, by whatever path: their lines
// count twice.
func noteTwice(w io.Writer, logs []string) {
	infos := make([]os.FileInfo, len(logs))
	for i, name := range logs {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		infos[i] = info
		for j, other := range infos[:i] {
			if other == nil || !os.SameFile(info, other) {
				continue
			}
			same := ""
			if logs[j] != name {
				same = " (it is " + logs[j] + ")"
			}
			fmt.Fprintf(w, "penstock: note: the log %s%s is named twice, so its lines count twice\n", name, same)
			break
		}
	}
}
