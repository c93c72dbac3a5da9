//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test's program is leat where it is called so, and what curl does for the page where there is none.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "leat":
		main()
		return
	case "curl":
		if err := fetch(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// fetch prints what a server answers, as curl -s does, and curl -sf.
func fetch(args []string) error {
	config := new(tls.Config)
	files := map[string]string{}
	for i := 0; i+1 < len(args); i++ {
		if strings.HasPrefix(args[i], "--") {
			files[args[i]] = args[i+1]
		}
	}
	if ca := files["--cacert"]; ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
		pair, err := tls.LoadX509KeyPair(files["--cert"], files["--key"])
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	answer, err := client.Get(args[len(args)-1])
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest && args[0] == "-sf" {
		return errors.New(answer.Status)
	}
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// A shell runs commands one after the other. What a command starts in the background goes on.
type shell struct {
	in    io.Writer
	lines *bufio.Scanner
	kill  func() // ends it, and all that it has started
}

// commandBound is how long a command may take.
const commandBound = 2 * time.Minute

// run returns what a command prints, and its exit status.
func (s *shell) run(command string) (out, status string, err error) {
	const mark = "--- exit status "
	if _, err := fmt.Fprintf(s.in, "%s\necho \"%s$?\"\n", command, mark); err != nil {
		return "", "", err
	}
	bound := time.AfterFunc(commandBound, s.kill)
	defer bound.Stop()
	var b strings.Builder
	for s.lines.Scan() {
		before, status, ended := strings.Cut(s.lines.Text(), mark)
		b.WriteString(before)
		if ended {
			return b.String(), status, nil
		}
		b.WriteByte('\n')
	}
	return b.String(), "", errors.Join(s.lines.Err(), io.ErrUnexpectedEOF)
}

// startShell starts a shell in a folder of its own, which has leat, counts and curl. Everything that it starts ends with the test.
func startShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	self, err := os.Executable()
	if err := errors.Join(err, os.Mkdir(bin, 0o755), os.Symlink(self, filepath.Join(bin, "leat"))); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("there is no curl, the test's own takes its place")
		if err := os.Symlink(self, filepath.Join(bin, "curl")); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "counts"), "github.com/leat-io/leat/examples/cluster")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh")
	cmd.Dir = filepath.Join(dir, "work")
	if err := os.Mkdir(cmd.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w // one writer: what comes is in order
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = r.Close()
		_ = cmd.Wait() // killed
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(cmd.Dir, "*.log"))
			for _, name := range logs {
				data, _ := os.ReadFile(name)
				t.Logf("%s\n%s", filepath.Base(name), data[max(0, len(data)-3000):])
			}
		}
	})
	s := &shell{in: in, lines: bufio.NewScanner(r), kill: func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = w.Close() // whoever reads what it prints is done
	}}
	s.lines.Buffer(nil, 1<<20)
	return s
}
