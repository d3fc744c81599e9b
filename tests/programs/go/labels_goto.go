// Labels that are spelt like variables.
package main

import "fmt"

func searchLabels() string {
	row, found := 0, ""
	table := [][]int{{1, 2}, {3, 4}, {5, 6}}
row:
	for row = 0; row < len(table); row++ {
		column := 0
	column:
		for column < len(table[row]) {
			switch {
			case table[row][column] == 2:
				continue row
			case table[row][column] == 6:
				found = fmt.Sprint(row, ":", column)
				break row
			case table[row][column] == 3:
				column++
				continue column
			}
			column++
		}
	}
	return found
}

func countGoto() int {
	count, limit, step := 0, 5, 2
count:
	if count < limit {
		count += step
		goto count
	}
	return count
}

func main() {
	if searchLabels() != "2:1" || countGoto() != 6 {
		panic(fmt.Sprint(searchLabels(), countGoto()))
	}
	fmt.Println(searchLabels(), countGoto())
}
