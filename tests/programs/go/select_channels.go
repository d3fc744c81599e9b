// Names that a select binds, and channels of the same names as values.
package main

import "fmt"

func drainSelect() (int, bool) {
	values := make(chan int, 3)
	done := make(chan bool, 1)
	sum, rounds := 0, 0
	for _, value := range []int{5, 6, 7} {
		values <- value
	}
	close(values)
	var ok bool
	for {
		select {
		case value, ok := <-values:
			if !ok {
				done <- true
				return sum, ok
			}
			sum += value
		case ok = <-done:
			rounds++
			sum += rounds
		}
		if ok {
			break
		}
	}
	return sum, ok
}

func pipelineSelect() []int {
	source, result := make(chan int), []int{}
	go func() {
		defer close(source)
		for index := 0; index < 4; index++ {
			source <- index * index
		}
	}()
	for val := range source {
		key := val + 1
		result = append(result, key)
	}
	return result
}

func main() {
	sum, ok := drainSelect()
	if sum != 18 || ok || fmt.Sprint(pipelineSelect()) != "[1 2 5 10]" {
		panic(fmt.Sprint(sum, ok, pipelineSelect()))
	}
	fmt.Println(sum, ok)
}
