package main

import (
	"fmt"
	"strings"
)

// nomadJob returns a job of one group, its allocations on different machines.
func nomadJob(m manifest) string {
	config := fmt.Sprintf("driver = \"exec\"\n\n      config {\n        command = %s\n\n", quoted(m.Binary))
	if m.Image != "" {
		config = fmt.Sprintf("driver = \"docker\"\n\n      config {\n        image        = %s\n        network_mode = \"host\"\n\n", quoted(m.Image))
	}
	var args strings.Builder
	for _, arg := range m.arguments(m.Name+"-${NOMAD_ALLOC_INDEX}", "${NOMAD_ADDR_driver}", "${", "$${", "%{", "%%{") {
		fmt.Fprintf(&args, "          %s,\n", quoted(arg))
	}
	return fmt.Sprintf(`# Drivers of %[1]s: %[2]d, %[1]s-0 to %[1]s-%[3]d, each on a machine that has the host volumes %[1]s-data and %[1]s-tls. The latter
# has ca.pem, cert.pem and key.pem; the certificate has the names of all drivers, and is for servers and clients. The folder of %[1]s-0 is
# made once, on its machine: leat cluster init DIR -name %[1]s-0
# When all run, the others are taken in with leat cluster join.
job "%[1]s" {
  type = "service"

  group "driver" {
    count = %[2]d

    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    # A driver that is lost is replaced by one without its folder only where somebody says so.
    reschedule {
      attempts  = 0
      unlimited = false
    }

    restart {
      interval = "1m"
      attempts = 10
      delay    = "2s"
      mode     = "delay"
    }

    update {
      max_parallel     = 1
      health_check     = "checks"
      min_healthy_time = "10s"
    }

    network {
      port "driver" {
        static = %[4]d
      }
    }

    service {
      name     = "%[1]s"
      provider = "nomad"
      port     = "driver"

      check {
        type     = "tcp"
        interval = "5s"
        timeout  = "2s"
      }
    }

    volume "data" {
      type   = "host"
      source = "%[1]s-data"
    }

    volume "tls" {
      type      = "host"
      source    = "%[1]s-tls"
      read_only = true
    }

    task "driver" {
      %[5]s        args = [
%[6]s        ]
      }

      # It lets another driver lead before it ends.
      kill_signal  = "SIGTERM"
      kill_timeout = "60s"

      volume_mount {
        volume      = "data"
        destination = "%[7]s"
      }

      volume_mount {
        volume      = "tls"
        destination = "%[8]s"
        read_only   = true
      }

      resources {
        cpu    = 1000
        memory = 1024
      }
    }
  }
}
`, m.Name, m.Nodes, m.Nodes-1, m.Port, config, args.String(), m.Data, m.TLS)
}
