package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// maxHosts bounds the hosts of a lab: they share 254 addresses with the caller.
const maxHosts = 200

// An UnavailableError says why this machine cannot have labs.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "network namespaces are not available: " + e.Reason }

// A Lab is a network of hosts on this machine.
type Lab struct {
	name  string // of its bridge, and the beginning of all other names
	net   string // its first three bytes, as "10.213.7."
	hosts int
}

// labs counts those of this process, so that two have different names.
var labs atomic.Uint32

// New makes a lab of so many hosts, all plugged in.
//
// Errors: *UnavailableError where it is not possible at all.
func New(hosts int) (l *Lab, err error) {
	if hosts < 1 || hosts > maxHosts {
		return nil, fmt.Errorf("%d hosts: 1 to %d are possible", hosts, maxHosts)
	}
	if reason := missing(); reason != "" {
		return nil, &UnavailableError{reason}
	}
	if err := sweep(); err != nil {
		return nil, err
	}
	l = &Lab{name: fmt.Sprintf("lt%dx%d", os.Getpid(), labs.Add(1)), hosts: hosts}
	if l.net, err = unused(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := ip("link add", l.name, "type bridge"); err != nil {
		return l, &UnavailableError{err.Error()} // no such rights, or a kernel without bridges
	}
	if err := ip("netns add", l.space(0)); err != nil {
		return l, &UnavailableError{err.Error()}
	}
	if err := errors.Join(ip("addr add", l.Gateway()+"/24 dev", l.name), ip("link set", l.name, "up")); err != nil {
		return l, err
	}
	for host := range hosts {
		space, cable := l.space(host), l.cable(host)
		if host > 0 {
			if err := ip("netns add", space); err != nil {
				return l, err
			}
		}
		for _, command := range []string{
			"link add " + cable + " type veth peer name eth0 netns " + space,
			"link set " + cable + " master " + l.name + " up",
			"-n " + space + " addr add " + l.Address(host) + "/24 dev eth0",
			"-n " + space + " link set eth0 up",
			"-n " + space + " link set lo up",
		} {
			if err := ip(command); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

// Hosts returns how many hosts there are.
func (l *Lab) Hosts() int { return l.hosts }

// Address returns the IP address of a host.
func (l *Lab) Address(host int) string { return l.net + strconv.Itoa(host+1) }

// Gateway returns the IP address of the caller in the lab.
func (l *Lab) Gateway() string { return l.net + "254" }

// On returns the options with which a process runs on a host. Its process id is that of the program.
func (l *Lab) On(host int, opts proctest.Options) proctest.Options {
	opts.Args = append([]string{"netns", "exec", l.space(host), opts.Path}, opts.Args...)
	opts.Path = "ip"
	return opts
}

// Unplug pulls the cable of a host: nothing reaches it or comes from it, and nobody is told.
func (l *Lab) Unplug(host int) error { return ip("link set", l.cable(host), "down") }

// Plug puts the cable of a host in again.
func (l *Lab) Plug(host int) error { return ip("link set", l.cable(host), "up") }

// Refuse lets a host have no way to another, so that sending there fails at once, or gives it back. The other still reaches it, but hears no answer.
func (l *Lab) Refuse(host, other int, refused bool) error {
	verb := "del"
	if refused {
		verb = "add"
	}
	return ip("-n", l.space(host), "route", verb, "blackhole", l.Address(other)+"/32")
}

// Close removes all hosts. What still runs on them has no network any more. It may be called again.
func (l *Lab) Close() error { return remove(l.name) }

func (l *Lab) space(host int) string { return l.name + "n" + strconv.Itoa(host) }
func (l *Lab) cable(host int) string { return l.name + "v" + strconv.Itoa(host) }

// missing returns what this machine lacks, "" if nothing.
func missing() string {
	switch _, err := exec.LookPath("ip"); {
	case runtime.GOOS != "linux":
		return "they are a part of Linux"
	case os.Geteuid() != 0:
		return "they need the rights of root"
	case err != nil:
		return err.Error()
	}
	return ""
}

// remove removes the namespaces and the bridge of a lab. The cables go with the namespaces.
func remove(name string) error {
	spaces, err := namespaces()
	errs := []error{err}
	for _, space := range spaces {
		if strings.HasPrefix(space, name+"n") {
			errs = append(errs, ip("netns del", space))
		}
	}
	// A namespace that a process still has goes with it, and its cable, too; the end here does not wait for that.
	interfaces, err := net.Interfaces()
	errs = append(errs, err)
	for _, i := range interfaces {
		if i.Name == name || strings.HasPrefix(i.Name, name+"v") {
			if err := ip("link del", i.Name); err != nil && exists(i.Name) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func exists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

// sweep removes the labs of processes that are gone.
func sweep() error {
	var errs []error
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	names, err := namespaces()
	if err != nil {
		return err
	}
	for _, i := range interfaces {
		names = append(names, i.Name)
	}
	for _, name := range names {
		var pid, nr int
		if n, err := fmt.Sscanf(name, "lt%dx%d", &pid, &nr); n != 2 || err != nil {
			continue
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); errors.Is(err, os.ErrNotExist) {
			errs = append(errs, remove(fmt.Sprintf("lt%dx%d", pid, nr)))
		}
	}
	return errors.Join(errs...)
}

// namespaces returns the names of the network namespaces that have one.
func namespaces() (names []string, err error) {
	entries, err := os.ReadDir("/run/netns")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // there was none yet
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// unused returns the first three bytes of addresses that no interface has.
func unused() (string, error) {
	taken, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for i := range 254 {
		prefix := fmt.Sprintf("10.213.%d.", (os.Getpid()+i)%254+1)
		if !slices.ContainsFunc(taken, func(a net.Addr) bool { return strings.HasPrefix(a.String(), prefix) }) {
			return prefix, nil
		}
	}
	return "", &UnavailableError{"10.213.0.0/16 has no free network"}
}

// ip runs the command of that name.
func ip(words ...string) error {
	line := strings.Join(words, " ")
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
	}
	return nil
}
