package proctest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Options say what a Process runs. Only Path is required.
type Options struct {
	Path string
	Args []string
	Dir  string    // where it runs; "" means here
	Err  io.Writer // takes what it prints as errors; nil discards
	// Line is called with each line of its output, when it comes, from one goroutine. It must not block for long: the process
	// waits meanwhile. Nil discards.
	Line func(at time.Time, line string)
}

// maxLine bounds a line of output; what is longer is cut into several.
const maxLine = 64 << 10

// A Process is a child process.
type Process struct {
	cmd    *exec.Cmd
	reader sync.WaitGroup
	ended  chan struct{} // closed when it is gone and all its output was handed on
	err    error         // how it ended, once ended is closed
}

// Start starts a process. Whoever starts one kills it, also after it has ended.
func Start(opts Options) (*Process, error) {
	cmd := exec.Command(opts.Path, opts.Args...)
	cmd.Dir, cmd.Stderr = opts.Dir, opts.Err
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", opts.Path, err)
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	p.reader.Go(func() {
		defer close(p.ended)
		lines := bufio.NewReaderSize(out, maxLine)
		for {
			line, _, err := lines.ReadLine()
			if err != nil {
				break
			}
			if opts.Line != nil {
				opts.Line(time.Now(), string(line))
			}
		}
		p.err = cmd.Wait()
	})
	return p, nil
}

// Pid returns the id of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when the process is gone and its output has been handed on.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits until the process has ended, and returns nil if it ended well.
//
// Errors: *exec.ExitError saying how it ended; ctx's.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill ends the process at once, as kill -9 does, paused or not, and returns when it is gone. It may be called again.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	p.reader.Wait()
}

// Terminate asks the process to stop in order, and does not wait.
func (p *Process) Terminate() error { return p.signal("terminate", syscall.SIGTERM) }

func (p *Process) signal(what string, s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s process %d: %w", what, p.Pid(), err)
	}
	return nil
}
