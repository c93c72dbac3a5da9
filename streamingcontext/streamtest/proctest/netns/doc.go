// Package netns gives the processes of a test hosts of their own on one machine: Linux network namespaces on a bridge, whose cables can be pulled.
//
// A [Lab] is a network of hosts. A process of package proctest runs on one of them, with its own interfaces, addresses and routes, and the
// kernel's own TCP between it and the others. What befalls it is what befalls a machine: a link that is down says nothing, and a route that
// is gone refuses at once, which is another failure and is to be tried as well.
//
//	lab, err := netns.New(3)
//	if err != nil {
//		return err
//	}
//	defer lab.Close()
//	p, err := proctest.Start(lab.On(0, proctest.Options{Path: program, Args: []string{"-listen", lab.Address(0) + ":7000"}}))
//	if err != nil {
//		return err
//	}
//	defer p.Kill()
//	return lab.Unplug(0)
//
// Guarantees: the caller reaches all hosts that are plugged in, from [Lab.Gateway]. Close leaves no namespace and no interface; what a
// process left that was killed before it could is removed by the next New.
//
// Any goroutine may call anything, but New and Close of one lab.
//
// What is not here: delays and losses of packets; anything but Linux, the rights of root and the command ip, without which New gives an
// [UnavailableError].
//
// Source: ip-netns(8), veth(4).
package netns
