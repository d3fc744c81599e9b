// Function literals that read and change the variables around them.
package main

import "fmt"

func makeCounters() []func(int) int {
	made := []func(int) int{}
	start, sum := 100, 0
	for index := 0; index < 3; index++ {
		offset := index * 10
		made = append(made, func(start int) int {
			sum += start
			offset++
			return start + offset + sum
		})
	}
	start++
	return append(made, func(value int) int { return value + start + sum })
}

func fibonacciClosure() int {
	var fib func(n int) int
	seen := map[int]int{}
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		if known, ok := seen[n]; ok {
			return known
		}
		seen[n] = fib(n-1) + fib(n-2)
		return seen[n]
	}
	result := fib(30)
	return result
}

func deferredClosure() (out string) {
	idx, mark := 0, "a"
	defer func() { out += fmt.Sprint(idx, mark) }()
	for idx = 1; idx < 4; idx++ {
		mark := mark + "b"
		out += mark
	}
	mark = "z"
	return out + "-"
}

func main() {
	counters := makeCounters()
	all := []int{counters[0](1), counters[0](1), counters[2](5), counters[3](0)}
	if fmt.Sprint(all) != "[3 5 33 108]" {
		panic(fmt.Sprint(all))
	}
	if fibonacciClosure() != 832040 || deferredClosure() != "ababab-4z" {
		panic(deferredClosure())
	}
	fmt.Println(all)
}
