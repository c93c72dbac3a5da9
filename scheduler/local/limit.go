package local

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// A machine is where the memory a process may use is read.
type machine struct {
	goLimit int64                             // of the Go runtime, math.MaxInt64 if none is set
	read    func(name string) ([]byte, error) // a file
}

// thisMachine is the one the process runs on.
func thisMachine() machine { return machine{debug.SetMemoryLimit(-1), os.ReadFile} }

// share returns the budget of one of so many executors, 0 if there is no limit.
func share(memory int64, executors int, m machine) int64 {
	if memory == 0 {
		if limit := m.limit(); limit > 0 {
			memory = max(limit/10*6, 1)
		}
	}
	if memory == 0 {
		return 0
	}
	return max(memory/int64(executors), 1)
}

// limit returns how much memory the process may use, 0 if that is not known.
func (m machine) limit() int64 {
	if m.goLimit > 0 && m.goLimit < math.MaxInt64 {
		return m.goLimit
	}
	group, physical := m.groupLimit(), m.physical()
	switch {
	case group == 0:
		return physical
	case physical == 0:
		return group
	}
	return min(group, physical)
}

// physical returns how much memory the machine has.
func (m machine) physical() int64 {
	data, err := m.read("/proc/meminfo")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil && kib > 0 && kib < math.MaxInt64/1024 {
				return 1024 * kib
			}
		}
	}
	return 0
}

// groupLimit returns the limit of the process's control group: the least of its own and those of the groups
// around it.
func (m machine) groupLimit() int64 {
	data, err := m.read("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		// hierarchy-ID:controllers:path
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if fields[1] != "" { // version 1 names the controllers
			if !hasWord(fields[1], "memory") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			if n := m.number(path.Join(root, group, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

func hasWord(list, word string) bool {
	for _, w := range strings.Split(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// number returns what a file of a control group says, 0 for "max", for the number that version 1 has in its
// place, and for a file that is not there.
func (m machine) number(name string) int64 {
	data, err := m.read(name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n >= math.MaxInt64/2 {
		return 0
	}
	return n
}
