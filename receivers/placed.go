package receivers

// Placed is the further power of a [Receiver] that wants to run on a certain host, as one whose source is there.
type Placed interface {
	// PreferredHost returns the name of the host, empty for none. It is called once, before the receiver is started. Nothing
	// promises that the receiver runs there.
	PreferredHost() string
}
