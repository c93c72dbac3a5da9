package postgres_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/postgres"
)

type reading struct {
	Sensor string
	Value  float64
}

// This needs a server, so it is compiled and not run.
func ExampleNew() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://leat@localhost/leat")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	var to sink.Sink[reading] = postgres.New(pool, postgres.Options[reading]{
		Table:   "readings",
		Columns: []string{"sensor", "value"},
		Values:  func(r *reading) []any { return []any{r.Sensor, r.Value} },
	})
	last, err := to.Last(ctx, "plant", "readings")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("committed up to batch", last.ID)
}

func ExampleOptions_Validate() {
	o := postgres.Options[reading]{
		Schema: "plant",
		Table:  "readings",
		Values: func(r *reading) []any { return []any{r.Sensor, r.Value} },
	}
	fmt.Println(o.Validate())
	o.Columns = []string{"sensor", "value", "sensor"}
	fmt.Println(o.Validate())
	o.Columns = []string{"sensor", "value"}
	o.Origin = postgres.Origin{Batch: "batch"}
	fmt.Println(o.Validate(), o)
	// Output:
	// postgres: option: 0 Columns, want 1 to 1600
	// postgres: option: Columns has "sensor" again
	// <nil> rows of "plant"."readings" (sensor, value)
}
