package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leat:", err)
		os.Exit(1)
	}
}

// run executes the command line args.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	w := bufio.NewWriterSize(stdout, 64<<10)
	defer func() { err = errors.Join(err, w.Flush()) }()
	p := &printer{w: w}
	root := &cobra.Command{
		Use:           "leat",
		Short:         "Look at what leat programs keep on disk and in object stores, and at clusters of their drivers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVarP(&p.format, "output", "o", "text", "text or json")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if p.format != "text" && p.format != "json" {
			return fmt.Errorf("-o %s: text or json", p.format)
		}
		return nil
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(doubleDashes(args))
	root.AddCommand(logCommand(p), checkpointCommand(p), sinkCommand(p), clusterCommand(p), manifestCommand(p))
	return root.ExecuteContext(ctx)
}

// doubleDashes lets names of flags have one dash, as Go programs have them.
func doubleDashes(args []string) []string {
	out := append([]string{}, args...) // never nil, for which cobra takes the arguments of the process
	for i, arg := range out {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' && name[1] != 'o' {
			out[i] = "-" + arg
		}
	}
	return out
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return fmt.Errorf("%s needs a command, see leat %s --help", use, use)
	}}
	c.AddCommand(commands...)
	return c
}

// printer prints values as text or as JSON.
type printer struct {
	w      *bufio.Writer
	format string
}

// print prints v as one line of JSON, or the text.
func (p *printer) print(v any, text string, args ...any) error {
	if p.format == "json" {
		return p.json(v)
	}
	_, err := fmt.Fprintf(p.w, text+"\n", args...)
	return err
}

func (p *printer) json(v any) error {
	e := json.NewEncoder(p.w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
