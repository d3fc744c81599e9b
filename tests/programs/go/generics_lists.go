// Type parameters, and variables that are spelt like them.
package main

import (
	"cmp"
	"fmt"
)

type pairGenerics[K comparable, V any] struct {
	key K
	val V
}

func sortedGenerics[T cmp.Ordered](items []T) []T {
	sorted := append([]T{}, items...)
	for index := range sorted {
		least := index
		for other := index + 1; other < len(sorted); other++ {
			if sorted[other] < sorted[least] {
				least = other
			}
		}
		sorted[index], sorted[least] = sorted[least], sorted[index]
	}
	return sorted
}

func foldGenerics[T, R any](items []T, start R, join func(R, T) R) R {
	result := start
	for _, item := range items {
		result = join(result, item)
	}
	return result
}

func useGenerics() string {
	pairs := []pairGenerics[string, int]{{"a", 1}, {key: "b", val: 2}}
	T, K := 5, "k"
	value := foldGenerics(pairs, T, func(sum int, pair pairGenerics[string, int]) int {
		return sum + pair.val
	})
	return fmt.Sprint(value, K, sortedGenerics([]int{3, 1, 2}), sortedGenerics[string]([]string{"b", "a"}))
}

func main() {
	if useGenerics() != "8k[1 2 3] [a b]" {
		panic(useGenerics())
	}
	fmt.Println(useGenerics())
}
