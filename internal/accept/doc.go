// Package accept takes the connections of a listener and serves a bounded number of them at a time.
package accept
