package main

import (
	"fmt"
	"strings"
)

// systemdUnits returns one unit for each driver, each for a machine of its own.
func systemdUnits(m manifest) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Drivers of %[2]s: %[1]d, each on a machine of its own, run by the user %[2]s. The certificate there has the driver's name.
# Once, before the first is started:
#   sudo -u %[2]s leat cluster init %[3]s -name %[4]s
`, m.Nodes, m.Name, m.Data, m.node(0))
	if m.Nodes > 1 {
		b.WriteString("# and when all are started, for each of the others:\n")
	}
	for _, host := range m.Hosts[1:] {
		fmt.Fprintf(&b, "#   leat cluster join %s:%d -addr %s:%d -ca ca.pem -cert cert.pem -key key.pem\n", host, m.Port, m.Hosts[0], m.Port)
	}
	for i, host := range m.Hosts {
		fmt.Fprintf(&b, `
# /etc/systemd/system/%[1]s.service on %[2]s
[Unit]
Description=Driver %[1]s, one of %[3]d
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
User=%[4]s
ExecStart=%[5]s
Restart=always
RestartSec=2
# It lets another driver lead before it ends.
KillSignal=SIGTERM
TimeoutStopSec=60
LimitNOFILE=65536
NoNewPrivileges=true
PrivateTmp=true
ProtectHome=true
ProtectSystem=strict
ReadWritePaths=%[6]s

[Install]
WantedBy=multi-user.target
`, m.node(i), host, m.Nodes, m.Name, execStart(m, i), m.Data)
	}
	return b.String()
}

// execStart returns the command line of a driver. Of its arguments % and $ are doubled, which mean themselves then.
func execStart(m manifest, i int) string {
	line := m.Binary
	for _, arg := range m.arguments(m.node(i), fmt.Sprintf("%s:%d", m.Hosts[i], m.Port), "%", "%%", "$", "$$") {
		if plainArgument(arg) {
			line += " " + arg
		} else {
			line += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(arg) + `"`
		}
	}
	return line
}

// plainArgument says whether an argument is one word as it is.
func plainArgument(arg string) bool {
	return arg != "" && arg != ";" && !strings.ContainsAny(arg, " \"'\\")
}
