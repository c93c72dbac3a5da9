//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// A step is a command of the page, and what it prints at least: lines in order, in which … stands for anything.
type step struct {
	line    int
	command string
	prints  []string
	fails   bool // it exits with 1
	needs   string
}

var (
	needed = regexp.MustCompile(`^<!-- needs (\S+) -->$`)
	exits  = regexp.MustCompile(`\s+# exits 1\b.*$`)
)

// steps returns the commands of a page: lines that begin with "$ " in blocks of the language console.
func steps(t *testing.T, page string) (all []step) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	inside, needs := false, ""
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		switch {
		case line == "```console":
			inside, needs = true, ""
			if m := needed.FindStringSubmatch(lines[i-1]); m != nil {
				needs = m[1]
			}
		case strings.HasPrefix(line, "```"):
			inside = false
		case !inside:
		case strings.HasPrefix(line, "$ "):
			all = append(all, step{line: i + 1, command: exits.ReplaceAllString(line[2:], ""), fails: exits.MatchString(line), needs: needs})
		case strings.HasPrefix(line, "> "):
			all[len(all)-1].command += "\n" + line[2:]
		default:
			all[len(all)-1].prints = append(all[len(all)-1].prints, line)
		}
	}
	return all
}

// pattern matches an output that has the lines, others among them.
func pattern(lines []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?m)")
	for i, line := range lines {
		if i > 0 {
			b.WriteString(`(?:.*\n)*?`)
		}
		var parts []string
		for part := range strings.SplitSeq(line, "…") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		b.WriteString("^" + strings.Join(parts, ".*") + "$\n?")
	}
	return regexp.MustCompile(b.String())
}

// asking are commands that change nothing: they may be given again until what they print is right.
var asking = regexp.MustCompile(`^(curl|grep|leat cluster status|leat sink read|leat log)\b`)

// Every command of docs/operations.md is run, in order, and prints what the page says.
func TestTheCommandsOfOperations(t *testing.T) {
	all := steps(t, "../../docs/operations.md")
	if len(all) < 40 {
		t.Fatalf("the page has %d commands", len(all))
	}
	s := startShell(t)
	ports := freePorts(t, all)
	for _, step := range all {
		if step.needs != "" {
			if _, err := exec.LookPath(step.needs); err != nil {
				t.Logf("line %d is left out: %v", step.line, err)
				continue
			}
		}
		want := pattern(step.prints)
		command := ports.Replace(step.command)
		begin := time.Now()
		for {
			out, status, err := s.run(command)
			if err != nil {
				t.Fatalf("line %d: %s: %v\n%s", step.line, command, err, out)
			}
			if (status == "1") == step.fails && (step.fails || status == "0") && want.MatchString(ports.back(out)) {
				break
			}
			if !asking.MatchString(command) || time.Since(begin) > patience {
				t.Fatalf("line %d: %s: exit status %s\n%s\nwant\n%s", step.line, command, status, out, strings.Join(step.prints, "\n"))
			}
			if _, _, err := s.run("sleep 0.1"); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin); d > time.Second {
			t.Logf("line %d took %v: %s", step.line, d.Round(time.Millisecond), step.command)
		}
	}
}

// patience is how long a command may take to print what it should.
const patience = 30 * time.Second

// portMap replaces the ports of the page by free ones, and back.
type portMap struct{ to, from *strings.Replacer }

func (p portMap) Replace(command string) string { return p.to.Replace(command) }
func (p portMap) back(out string) string        { return p.from.Replace(out) }

var address = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d{4}\b`)

func freePorts(t *testing.T, all []step) portMap {
	t.Helper()
	free := map[string]string{} // by port
	var to, from []string
	for _, s := range all {
		for _, a := range address.FindAllString(s.command, -1) {
			port := a[strings.LastIndexByte(a, ':'):]
			if free[port] != "" {
				continue
			}
			free[port] = freePort(t)
			for slices.Contains(from, free[port]) {
				free[port] = freePort(t)
			}
			to, from = append(to, port, free[port]), append(from, free[port], port)
		}
	}
	return portMap{strings.NewReplacer(to...), strings.NewReplacer(from...)}
}

// freePort returns a port that nobody listens on, below those that systems give to connections: what starts late finds it free, too.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := fmt.Sprint(":", 20000+rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1"+port); err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// What the page says of metrics is there.
func TestTheMetricsOfOperations(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var known bytes.Buffer
	for _, name := range []string{"driver.txt", "metrics.txt"} {
		golden, err := os.ReadFile(filepath.Join("../../streamingcontext/metrics/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		known.Write(golden)
	}
	names := regexp.MustCompile(`\bleat_[a-z_]*[a-z]\b`).FindAllString(string(page), -1)
	if len(names) == 0 {
		t.Error("the page names no metrics")
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `(_bucket)?[{ ]`).Match(known.Bytes()) {
			t.Errorf("there is no %s", name)
		}
	}
}

// The alerts of the page are rules as Prometheus reads them.
func TestTheAlertsOfOperations(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct{ Alert, Expr, For string }
		}
	}
	d := yaml.NewDecoder(strings.NewReader(block))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil || len(rules.Groups) != 1 {
		t.Fatalf("%+v, %v", rules, err)
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" || !strings.Contains(r.Expr, "leat_cluster_") || strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") {
			t.Errorf("rule %+v", r)
		}
	}
}
