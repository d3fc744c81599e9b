// Variadic parameters, functions as values, and results that are passed on.
package main

import (
	"fmt"
	"strings"
)

func joinVariadic(sep string, parts ...string) string {
	count := len(parts)
	out := strings.Join(parts, sep)
	return fmt.Sprint(count, out)
}

func twoVariadic() (string, string) { return "x", "y" }

func passVariadic() string {
	parts := []string{"a", "b"}
	more := append([]string{"0"}, parts...)
	apply := func(join func(string, ...string) string, parts ...string) string {
		result := join("+", parts...)
		return result
	}
	value := joinVariadic(twoVariadic())
	return joinVariadic("-", more...) + apply(joinVariadic, parts...) + value
}

func tableVariadic() int {
	key, res := 2, 0
	table := map[string]func(...int) int{
		"sum": func(nums ...int) (res int) {
			for _, num := range nums {
				res += num
			}
			return
		},
		"len": func(nums ...int) int { return len(nums) * key },
	}
	for _, name := range []string{"sum", "len"} {
		res = res*100 + table[name](1, 2, 3)
	}
	return res
}

func main() {
	if passVariadic() != "30-a-b2a+b1y" || tableVariadic() != 606 {
		panic(fmt.Sprint(passVariadic(), tableVariadic()))
	}
	fmt.Println(passVariadic())
}
