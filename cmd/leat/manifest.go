package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// manifest says what the drivers of a cluster are.
type manifest struct {
	Name   string   // of the program, and before the number in the drivers' names
	Binary string   // the program's file
	Image  string   // or the image that runs it
	Nodes  int      // the number of drivers
	Port   int      // that they listen on
	Data   string   // the folder of each
	TLS    string   // the folder with ca.pem, cert.pem and key.pem
	Hosts  []string // the machines, for units
	Size   string   // of a driver's volume
	Args   []string // of the program, with placeholders
}

// defaultArgs is what a program is given that is told nothing else.
var defaultArgs = []string{"-node", "{node}", "-address", "{address}", "-listen", ":{port}", "-data", "{data}", "-tls", "{tls}"}

// maxNodes is the number of drivers, at most: each decision waits for a majority of them.
const maxNodes = 9

func manifestCommand(p *printer) *cobra.Command {
	one := func(use, short string, print func(manifest) string, check func(manifest) error) *cobra.Command {
		var m manifest
		c := &cobra.Command{
			Use: use + " -name NAME [-- ARG...]", Short: short,
			Long: short + ".\n\nWhat follows -- are the arguments of the program. In them {node}, {address}, {port}, {data} and {tls} stand for the driver's name,\n" +
				"where other drivers reach it, and what the flags say. Without any they are:\n  " + strings.Join(defaultArgs, " "),
			Args: func(c *cobra.Command, args []string) error {
				if dash := c.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
					return fmt.Errorf("argument %q: those of the program follow --", args[0])
				}
				return nil
			},
			RunE: func(_ *cobra.Command, args []string) error {
				m.Args = args
				if err := errors.Join(m.complete(), check(m)); err != nil {
					return err
				}
				if p.format == "json" {
					return errors.New("a manifest is not JSON, leave out -o")
				}
				_, err := p.w.WriteString(print(m))
				return err
			},
		}
		c.Flags().StringVar(&m.Name, "name", "", "the program's name: small letters, digits and '-'")
		c.Flags().StringVar(&m.Binary, "binary", "", "the program's file, absolute")
		c.Flags().StringVar(&m.Image, "image", "", "the image that runs the program")
		c.Flags().IntVar(&m.Nodes, "nodes", 3, "the number of drivers, odd")
		c.Flags().IntVar(&m.Port, "port", 7000, "the port that they listen on")
		c.Flags().StringVar(&m.Data, "data", "", "the folder that each keeps (default /var/lib/NAME)")
		c.Flags().StringVar(&m.TLS, "tls", "", "the folder with ca.pem, cert.pem and key.pem (default /etc/NAME/tls)")
		c.Flags().StringSliceVar(&m.Hosts, "hosts", nil, "systemd: the machines' names, with commas (default the drivers' names)")
		c.Flags().StringVar(&m.Size, "size", "1Gi", "kubernetes: the size of a driver's volume")
		return c
	}
	return group("manifest", "What starts the drivers of a cluster",
		one("systemd", "Print a unit for each driver", systemdUnits, func(m manifest) error {
			if m.Binary == "" || m.Image != "" {
				return errors.New("units need -binary, and no -image")
			}
			return nil
		}),
		one("kubernetes", "Print a StatefulSet, its service and its disruption budget", kubernetesManifest, func(m manifest) error {
			if m.Image == "" {
				return errors.New("pods need -image; -binary is the program in it, where the image does not say")
			}
			return nil
		}),
		one("nomad", "Print a job", nomadJob, func(m manifest) error {
			if (m.Image == "") == (m.Binary == "") {
				return errors.New("a job needs -binary or -image")
			}
			return nil
		}))
}

var (
	labelForm = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,48}[a-z0-9])?$`)
	imageForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]*$`)
	pathForm  = regexp.MustCompile(`^/[A-Za-z0-9._/-]*$`)
	hostForm  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	sizeForm  = regexp.MustCompile(`^[1-9][0-9]*[KMGT]i?$`)
)

// complete fills in defaults and returns what is wrong. What it lets through needs no quoting, but for the arguments.
func (m *manifest) complete() error {
	if !labelForm.MatchString(m.Name) {
		return fmt.Errorf("-name %q: want small letters, digits and '-', at most 50", m.Name)
	}
	if slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, m.Name) {
		return fmt.Errorf("-name %s: YAML has another meaning for it", m.Name)
	}
	if m.Data == "" {
		m.Data = "/var/lib/" + m.Name
	}
	if m.TLS == "" {
		m.TLS = "/etc/" + m.Name + "/tls"
	}
	if len(m.Args) == 0 {
		m.Args = defaultArgs
	}
	if len(m.Hosts) == 0 {
		for i := range min(m.Nodes, maxNodes) {
			m.Hosts = append(m.Hosts, m.node(i))
		}
	}
	switch {
	case m.Nodes < 1 || m.Nodes > maxNodes || m.Nodes%2 == 0:
		return fmt.Errorf("-nodes %d: want an odd number up to %d, with one more as few may fail as without it", m.Nodes, maxNodes)
	case m.Port < 1 || m.Port > 65535:
		return fmt.Errorf("-port %d", m.Port)
	case m.Image != "" && !imageForm.MatchString(m.Image):
		return fmt.Errorf("-image %q", m.Image)
	case m.Size != "" && !sizeForm.MatchString(m.Size):
		return fmt.Errorf("-size %q: want a number and a unit, as 10Gi", m.Size)
	case len(m.Hosts) != m.Nodes:
		return fmt.Errorf("%d -hosts for %d drivers", len(m.Hosts), m.Nodes)
	}
	for _, p := range [...]struct{ flag, value string }{{"binary", m.Binary}, {"data", m.Data}, {"tls", m.TLS}} {
		if p.flag == "binary" && p.value == "" {
			continue
		}
		if !pathForm.MatchString(p.value) || path.Clean(p.value) != p.value || p.value == "/" {
			return fmt.Errorf("-%s %q: want an absolute path of letters, digits, '.', '_' and '-'", p.flag, p.value)
		}
	}
	for _, h := range m.Hosts {
		if !hostForm.MatchString(h) {
			return fmt.Errorf("-hosts %q", h)
		}
	}
	for _, arg := range m.Args {
		if !utf8.ValidString(arg) || strings.ContainsFunc(arg, unicode.IsControl) {
			return fmt.Errorf("argument %q is not text of one line", arg)
		}
	}
	return nil
}

// node returns the name of a driver.
func (m manifest) node(i int) string { return fmt.Sprintf("%s-%d", m.Name, i) }

// arguments returns the program's arguments, placeholders replaced. The pairs are what else is replaced, once: text that means something
// to who reads the manifest.
func (m manifest) arguments(node, address string, pairs ...string) []string {
	r := strings.NewReplacer(append(pairs, "{node}", node, "{address}", address, "{port}", fmt.Sprint(m.Port), "{data}", m.Data, "{tls}", m.TLS)...)
	out := make([]string, len(m.Args))
	for i, arg := range m.Args {
		out[i] = r.Replace(arg)
	}
	return out
}

// quoted returns a text as YAML and HCL read it, between double quotes.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // of a string: never fails
	return strings.TrimSuffix(b.String(), "\n")
}
