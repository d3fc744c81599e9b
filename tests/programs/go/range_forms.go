// All forms of range: with new names, with old ones, with none.
package main

import "fmt"

func newRange() string {
	text, sum := "", 0
	for position, letter := range "héy" {
		text += fmt.Sprint(position, string(letter))
	}
	for position := range []int{7, 8, 9} {
		sum += position
	}
	for range [3]int{} {
		sum++
	}
	for _, sum := range []int{100} {
		text += fmt.Sprint(sum)
	}
	return text + fmt.Sprint(sum)
}

func oldRange() (int, int) {
	var index, value int
	last := [2]int{}
	for index, value = range []int{4, 5, 6} {
		last[index%2] = value
	}
	for last[0] = range []int{1, 2} {
		index += last[0]
	}
	table := map[int]int{}
	for table[index], value = range []int{40, 50} {
		value++
	}
	return index + table[3], value
}

func nestedRange() int {
	rows := [][]int{{1}, {2, 3}}
	result := 0
	for i, rows := range rows {
		for j, row := range rows {
			i := i + j
			result += row * (i + 1)
		}
	}
	return result + len(rows)
}

func main() {
	index, value := oldRange()
	if newRange() != "0h1é3y1006" || index != 4 || value != 51 || nestedRange() != 16 {
		panic(fmt.Sprint(newRange(), index, value, nestedRange()))
	}
	fmt.Println(newRange(), index, value)
}
