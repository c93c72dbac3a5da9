package dstream_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// saved plays two batches with an output that writes folders, and prints their names and the first file of each.
func saved(declare func(g *dstream.Graph, prefix string)) {
	dir, err := os.MkdirTemp("", "saved")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	play(2, func(g *dstream.Graph) { declare(g, filepath.Join(dir, "out")) })
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		fmt.Println(err)
	}
	for _, folder := range folders {
		fmt.Println(filepath.Base(folder))
		files, err := filepath.Glob(filepath.Join(folder, "part-*"))
		if err != nil || len(files) == 0 {
			fmt.Println("no files", err)
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			fmt.Println(err)
		}
		fmt.Print(string(text))
	}
}

func ExampleSaveAsJSONFiles() {
	saved(func(g *dstream.Graph, prefix string) { dstream.SaveAsJSONFiles(numbers(g), prefix, "json") })
	// Output:
	// out-1000.json
	// 1
	// out-2000.json
	// 2
	// 3
}

func ExampleSaveAsCSVFiles() {
	saved(func(g *dstream.Graph, prefix string) {
		rows := dstream.Map(visits(g), func(p rdd.Pair[string, int]) []string { return []string{p.Key, fmt.Sprint(p.Value)} })
		dstream.SaveAsCSVFiles(rows, prefix, "", rdd.CSVSaveOptions{Header: []string{"who", "n"}})
	})
	// Output:
	// out-1000
	// who,n
	// ada,1
	// bo,1
	// ada,1
	// out-2000
	// who,n
	// ada,1
}

func ExampleSavePairs() {
	saved(func(g *dstream.Graph, prefix string) {
		dstream.SavePairs(visits(g), prefix, "txt", func(who string, n int) string { return fmt.Sprintf("%s\t%d", who, n) })
	})
	// Output:
	// out-1000.txt
	// ada	1
	// bo	1
	// ada	1
	// out-2000.txt
	// ada	1
}

func ExampleSaveAsObjectFiles() {
	fmt.Println(dstream.FolderName("numbers", "", 3000))
	play(0, func(g *dstream.Graph) { dstream.SaveAsObjectFiles(numbers(g), "numbers", "") })
	// Output:
	// numbers-3000
}
