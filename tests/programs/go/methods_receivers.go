// Receivers, methods and embedded types with the names of locals.
package main

import (
	"fmt"
	"sort"
)

type stackMethods struct {
	items []int
	size  int
}

func (s *stackMethods) push(items ...int) *stackMethods {
	for _, item := range items {
		size := s.size + 1
		s.items = append(s.items, item)
		s.size = size
	}
	return s
}

func (s stackMethods) sum() (sum int) {
	for _, item := range s.items {
		sum += item
	}
	return
}

type namedMethods struct {
	stackMethods
	name string
}

func (n namedMethods) report() string {
	sum, size := n.sum(), n.size
	name := n.name
	items := append([]int{}, n.items...)
	sort.Slice(items, func(i, j int) bool { return items[i] > items[j] })
	return fmt.Sprint(name, sum, size, items)
}

func valuesMethods() string {
	stack := &stackMethods{}
	push, sum := stack.push, stack.sum
	push(4, 5)
	total := stack.sum()
	other := stackMethods.sum
	return fmt.Sprint(sum(), total, other(*stack))
}

func main() {
	one := namedMethods{name: "n"}
	one.push(1, 3).push(2)
	if one.report() != "n6 3 [3 2 1]" || valuesMethods() != "0 9 9" {
		panic(one.report() + valuesMethods())
	}
	fmt.Println(one.report())
}
