package local

import (
	"io/fs"
	"math"
	"testing"
)

func TestMemoryOfTheProcess(t *testing.T) {
	const info = "MemTotal:       1000 kB\nMemFree:        1 kB\n"
	for _, c := range []struct {
		name    string
		goLimit int64
		files   map[string]string
		want    int64
	}{
		{"the_runtimes_limit_first", 500, map[string]string{"/proc/meminfo": info, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "100\n"}, 500},
		{"version_2", 0, map[string]string{"/proc/meminfo": info, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "7000\n"}, 7000},
		{"version_2_nested", 0, map[string]string{"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
			"/sys/fs/cgroup/a/memory.max": "4000\n", "/sys/fs/cgroup/memory.max": "9000\n"}, 4000},
		{"version_1", 0, map[string]string{"/proc/meminfo": info, "/proc/self/cgroup": "9:cpu,cpuacct:/x\n5:memory:/x\n",
			"/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "6000\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 6000},
		{"version_1_without_limit", 0, map[string]string{"/proc/meminfo": info, "/proc/self/cgroup": "5:memory:/\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 1024000},
		{"a_group_larger_than_the_machine", 0, map[string]string{"/proc/meminfo": info, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "70000000\n"}, 1024000},
		{"a_path_with_dots_and_colons", 0, map[string]string{"/proc/self/cgroup": "0::/../a:b\n", "/sys/fs/cgroup/a:b/memory.max": "8000"}, 8000},
		{"physical", 0, map[string]string{"/proc/meminfo": info}, 1024000},
		{"damaged", 0, map[string]string{"/proc/meminfo": "MemTotal: much kB\nMemTotal:", "/proc/self/cgroup": "::\n0:\nx", "/sys/fs/cgroup/memory.max": "-5"}, 0},
		{"unknown", 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine{goLimit: c.goLimit, read: func(name string) ([]byte, error) {
				if s, ok := c.files[name]; ok {
					return []byte(s), nil
				}
				return nil, fs.ErrNotExist
			}}
			if m.goLimit == 0 {
				m.goLimit = math.MaxInt64
			}
			if got := m.limit(); got != c.want {
				t.Errorf("limit %d, want %d", got, c.want)
			}
			if got, want := share(0, 2, m), c.want/10*6/2; got != want {
				t.Errorf("an executor of two gets %d, want %d", got, want)
			}
			if got := share(100, 3, m); got != 33 {
				t.Errorf("a third of 100 is %d", got)
			}
			if got := share(1, 3, m); got != 1 {
				t.Errorf("a third of 1 is %d, which must not be unlimited", got)
			}
		})
	}
	if thisMachine().limit() < 0 {
		t.Error("this machine has less than nothing")
	}
}
