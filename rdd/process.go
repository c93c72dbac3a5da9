package rdd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A ProcessError says that a command of Pipe did not end well.
type ProcessError struct {
	Command string // with its arguments
	Code    int    // exit code; -1 if it did not start or was killed
	Stderr  string // the last of what it printed there, at most 4 KiB
	Err     error
}

func (e *ProcessError) Error() string {
	text := fmt.Sprintf("run %s: %v", e.Command, e.Err)
	if e.Stderr != "" {
		text += ": " + strings.TrimSpace(e.Stderr)
	}
	return text
}

// Unwrap returns the cause.
func (e *ProcessError) Unwrap() error { return e.Err }

// process is a running command of a task. The task's goroutine pushes records through it; two others move blocks of bytes and
// lines between the task and the pipes, so that neither side can make the other wait for ever.
type process struct {
	ctx    context.Context
	cancel context.CancelFunc // kills the command
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail
	wg     sync.WaitGroup // the two goroutines

	input  chan []byte   // a block is one chunk of records; the writer takes the next when it is through with one
	output chan []string // a block is one chunk of lines
	ended  chan struct{} // closed by stop: the reader's blocks have no taker
	inEnd  bool          // input is closed
	gaveUp chan struct{} // closed by the writer: no more is written

	readErr error // set before output is closed
	waited  bool
	waitErr error
}

// patience is how long a killed command's children may hold its standard error open.
const patience = time.Second

// startProcess starts a command. stop must be called.
func startProcess(ctx context.Context, command, env []string) (*process, error) {
	p := &process{input: make(chan []byte), output: make(chan []string, 1), ended: make(chan struct{}),
		gaveUp: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.cmd = exec.CommandContext(p.ctx, command[0], command[1:]...)
	p.cmd.WaitDelay = patience
	p.cmd.Stderr = &p.stderr
	if len(env) > 0 {
		p.cmd.Env = append(os.Environ(), env...)
	}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		p.cancel()
		return nil, p.failure(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.cancel()
		_ = stdin.Close()
		return nil, p.failure(err)
	}
	p.stdin, p.stdout = stdin, stdout
	p.wg.Go(p.write)
	p.wg.Go(p.read)
	return p, nil
}

// write copies blocks to the command. One that reads no more is not at fault: its exit code says whether it is.
func (p *process) write() {
	defer close(p.gaveUp)
	defer p.stdin.Close()
	open := true
	for block := range p.input {
		if open {
			_, err := p.stdin.Write(block)
			open = err == nil
		}
	}
}

// read cuts what the command prints into lines.
func (p *process) read() {
	defer close(p.output)
	lines := &lineReader{src: p.stdout, limit: -1}
	for {
		chunk, err := lines.next(make([]string, 0, chunkSize))
		if len(chunk) > 0 {
			select {
			case p.output <- chunk:
			case <-p.ended:
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				p.readErr = err
			}
			return
		}
	}
}

// give hands a block to the command, and meanwhile what the command prints to out.
func (p *process) give(block []byte, out sink[string]) error {
	output := p.output
	for {
		select {
		case p.input <- block:
			return nil
		case lines, ok := <-output:
			if !ok {
				output = nil // it prints no more, but may still read
				continue
			}
			if err := out(lines); err != nil {
				return err
			}
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

// finish closes the command's input and hands the rest of what it prints to out.
func (p *process) finish(out sink[string]) error {
	p.inEnd = true
	close(p.input)
	for {
		select {
		case lines, ok := <-p.output:
			if !ok {
				return context.Cause(p.ctx)
			}
			if err := out(lines); err != nil {
				return err
			}
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

// exit waits for the command, all of whose output was read, and returns what is wrong with its end.
func (p *process) exit() error {
	select {
	case <-p.gaveUp:
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
	p.wait()
	switch err := errors.Join(p.readErr, p.waitErr); {
	case context.Cause(p.ctx) != nil:
		return context.Cause(p.ctx)
	case err != nil:
		return p.failure(err)
	}
	return nil
}

func (p *process) wait() {
	if !p.waited {
		p.waited = true
		if p.waitErr = p.cmd.Wait(); errors.Is(p.waitErr, exec.ErrWaitDelay) {
			p.waitErr = nil // it ended well, and left something running that holds its standard error
		}
	}
}

// stop kills the command if it still runs and waits for it and the two goroutines.
func (p *process) stop() {
	p.cancel()
	close(p.ended)
	if !p.inEnd {
		close(p.input)
	}
	// What the command started may hold the pipes open when it is dead.
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	p.wg.Wait()
	p.wait()
}

func (p *process) failure(err error) error {
	code := -1
	if p.cmd.ProcessState != nil {
		code = p.cmd.ProcessState.ExitCode()
	}
	return &ProcessError{Command: strings.Join(p.cmd.Args, " "), Code: code, Stderr: string(p.stderr.last), Err: err}
}

// tail keeps the last bytes written to it.
type tail struct{ last []byte }

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.last = append(t.last, b[max(0, len(b)-tailSize):]...)
	if over := len(t.last) - tailSize; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(b), nil
}
