package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// ofTwo are the modes that two nodes survive: all others take one away for a while, and the one that is left decides nothing.
var ofTwo = []string{"recover", "restart", "transfer"}

// ofOne are the modes that one node survives.
var ofOne = []string{"kill", "restart"}

// withLength are the modes for which -for says how long.
var withLength = []string{"partition", "pause", mixed}

// check returns what is wrong with the settings, and with those that do not go together. given are the flags that were there.
func (s *settings) check(given map[string]bool) error {
	switch {
	case s.nodes < 1 || s.nodes > 7:
		return fmt.Errorf("-nodes %d: 1 to 7 are possible", s.nodes)
	case s.kills < 0 || s.lines < 0 || s.length < 0 || s.stall < 0 || s.batch < 10*time.Millisecond:
		return errors.New("-kills, -lines, -for and -stall must not be negative, -batch at least 10ms")
	case s.mode != mixed && harmOf(s.mode) == nil:
		return fmt.Errorf("-mode %q: possible are %s", s.mode, modes())
	case s.at != anywhere && s.at != rollForward:
		return fmt.Errorf("-at %q: possible are %s and %s", s.at, anywhere, rollForward)
	case s.lasting < 0:
		return errors.New("-lasting must not be negative")
	case s.lasting > 0:
		if err := s.checkLasting(given); err != nil {
			return err
		}
	case given["sample"]:
		return errors.New("-sample goes with -lasting")
	case s.nodes == 1 && !slices.Contains(ofOne, s.mode):
		return fmt.Errorf("-mode %s needs a node that takes over", s.mode)
	case s.nodes == 2 && !slices.Contains(ofTwo, s.mode):
		return fmt.Errorf("-mode %s needs 3 nodes: of two neither decides anything without the other", s.mode)
	case s.length > 0 && !slices.Contains(withLength, s.mode):
		return fmt.Errorf("-for goes with none but -mode %v", withLength)
	}
	return s.checkDir()
}

func (s *settings) checkLasting(given map[string]bool) error {
	switch {
	case s.nodes < 3 || s.nodes > 5 || s.sample < 100*time.Millisecond:
		return errors.New("-lasting needs 3 to 5 nodes and a -sample of at least 100ms")
	case s.grow || s.bare || s.at != anywhere || s.length > 0 || given["kills"] || given["mode"] && s.mode != mixed:
		return errors.New("-lasting goes with none of -grow, -bare, -at, -for, -kills and -mode: faults are of all modes, at any time")
	}
	return nil
}

// checkDir refuses a folder with something in it: the nodes of another run would go on in it, and its text be counted.
func (s *settings) checkDir() error {
	if s.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil // it is made
	case err != nil:
		return fmt.Errorf("-dir: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("-dir %s is not empty", s.dir)
	}
	return nil
}
