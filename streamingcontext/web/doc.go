// Package web shows a streaming program to people, as pages, and to programs, as JSON.
//
// # Nouns
//
// A [Server] is an http.Handler over a progress store: pages below /streaming/, a JSON API beside them. [Server.Run]
// listens for it. The first page has the statistics and the batches; the page of a batch has its inputs, its
// outputs with their jobs, and each job's lineage as a drawing: stages as boxes, in them the operations whose RDDs
// they compute.
//
// # A program
//
//	store := progress.New(progress.Options{})
//	defer store.Attach(ssc)()
//	ui, err := web.New(store, web.Options{Metrics: metrics.Handler(store)})
//	if err != nil {
//		return err
//	}
//	go func() { done <- ui.Run(ctx, "localhost:4040") }() // http://localhost:4040/streaming/
//	err = ssc.Run(ctx)
//
// # Guarantees
//
// Everything is drawn here: pages hold no script, load nothing from elsewhere, and work offline. Whatever comes from
// the program, names, descriptions and errors, is shown as text; a content security policy says so to the browser as well.
// Requests only read. Run listens on the loopback interface, and elsewhere with TLS only; without TLS it answers
// only requests that name a loopback host, so that no page of another site can read it through a browser.
//
// A slow or stuck reader holds up nothing but its own connection.
//
// # Who may call what
//
// Any goroutine may call ServeHTTP; Run and Serve are called by goroutines of the program and return when their context ends.
//
// # What is not here
//
// Users and rights: put the handler behind a server of the program's own for those. Stopping or changing anything.
//
// Source: Spark Streaming Programming Guide, section "Monitoring Applications".
package web
