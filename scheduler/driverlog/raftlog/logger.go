package raftlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// A hclogger passes what raft says on to a slog.Logger, all of it at Debug: what matters of it the log says itself.
type hclogger struct {
	to      *slog.Logger
	name    string
	implied []any
}

func newHclogger(to *slog.Logger) *hclogger { return &hclogger{to: to, name: "raft"} }

// Log passes a message on.
func (h *hclogger) Log(level hclog.Level, msg string, args ...any) {
	if !h.IsDebug() {
		return
	}
	attrs := make([]any, 0, len(args)+4)
	attrs = append(attrs, "level", level.String(), "from", h.name)
	for i, a := range args {
		if f, ok := a.(hclog.Format); ok && i%2 == 1 && len(f) > 0 {
			a = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
		attrs = append(attrs, a)
	}
	h.to.Debug(msg, attrs...)
}

// Trace passes a message on.
func (h *hclogger) Trace(msg string, args ...any) { h.Log(hclog.Trace, msg, args...) }

// Debug passes a message on.
func (h *hclogger) Debug(msg string, args ...any) { h.Log(hclog.Debug, msg, args...) }

// Info passes a message on.
func (h *hclogger) Info(msg string, args ...any) { h.Log(hclog.Info, msg, args...) }

// Warn passes a message on.
func (h *hclogger) Warn(msg string, args ...any) { h.Log(hclog.Warn, msg, args...) }

// Error passes a message on.
func (h *hclogger) Error(msg string, args ...any) { h.Log(hclog.Error, msg, args...) }

// IsTrace returns whether messages are passed on.
func (h *hclogger) IsTrace() bool { return h.IsDebug() }

// IsDebug returns whether messages are passed on.
func (h *hclogger) IsDebug() bool { return h.to.Enabled(context.Background(), slog.LevelDebug) }

// IsInfo returns whether messages are passed on.
func (h *hclogger) IsInfo() bool { return h.IsDebug() }

// IsWarn returns whether messages are passed on.
func (h *hclogger) IsWarn() bool { return h.IsDebug() }

// IsError returns whether messages are passed on.
func (h *hclogger) IsError() bool { return h.IsDebug() }

// ImpliedArgs returns the arguments given to With.
func (h *hclogger) ImpliedArgs() []any { return h.implied }

// With returns a logger that adds args to every message.
func (h *hclogger) With(args ...any) hclog.Logger {
	return &hclogger{to: h.to.With(args...), name: h.name, implied: append(h.implied[:len(h.implied):len(h.implied)], args...)}
}

// Name returns the logger's name.
func (h *hclogger) Name() string { return h.name }

// Named returns a logger of a longer name.
func (h *hclogger) Named(name string) hclog.Logger { return h.ResetNamed(h.name + "." + name) }

// ResetNamed returns a logger of another name.
func (h *hclogger) ResetNamed(name string) hclog.Logger {
	return &hclogger{to: h.to, name: name, implied: h.implied}
}

// SetLevel does nothing: the slog.Logger has the level.
func (h *hclogger) SetLevel(hclog.Level) {}

// GetLevel returns the level from which on messages are passed on.
func (h *hclogger) GetLevel() hclog.Level {
	if h.IsDebug() {
		return hclog.Debug
	}
	return hclog.Off
}

// StandardLogger returns a logger of package log that passes lines on.
func (h *hclogger) StandardLogger(opts *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(h.StandardWriter(opts), "", 0)
}

// StandardWriter returns a writer that passes lines on.
func (h *hclogger) StandardWriter(*hclog.StandardLoggerOptions) io.Writer { return lineWriter{h} }

type lineWriter struct{ h *hclogger }

// Write passes a line on.
func (w lineWriter) Write(p []byte) (int, error) {
	w.h.Debug(string(bytes.TrimRight(p, "\n")))
	return len(p), nil
}
