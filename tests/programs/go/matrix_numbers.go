// Loops over numbers: assignments in parallel, slices of slices, bits.
package main

import "fmt"

func multiplyMatrix() [2][2]int {
	left := [2][2]int{{1, 2}, {3, 4}}
	right := [2][2]int{{0, 1}, {1, 0}}
	var result [2][2]int
	for i := range left {
		for j := range right {
			sum := 0
			for k := 0; k < 2; k++ {
				sum += left[i][k] * right[k][j]
			}
			result[i][j] = sum
		}
	}
	return result
}

func reverseMatrix() []int {
	items := []int{1, 2, 3, 4, 5}
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	mask, count := 0b1011, 0
	for mask != 0 {
		mask &= mask - 1
		count++
	}
	return append(items[:2:3], count, mask)
}

func primesMatrix() []int {
	limit, found := 20, []int{}
	sieve := make([]bool, limit)
outer:
	for num := 2; num < limit; num++ {
		for _, prime := range found {
			if num%prime == 0 {
				sieve[num] = true
				continue outer
			}
		}
		found = append(found, num)
	}
	return found
}

func main() {
	text := fmt.Sprint(multiplyMatrix(), reverseMatrix(), primesMatrix())
	if text != "[[2 1] [4 3]] [5 4 3 0] [2 3 5 7 11 13 17 19]" {
		panic(text)
	}
	fmt.Println(text)
}
