// Ordinary code: words are counted, sorted and printed.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type wordCounting struct {
	word  string
	count int
}

func countWords() []wordCounting {
	text := "the cat and the dog and the bird"
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	result := []wordCounting{}
	for key, value := range counts {
		result = append(result, wordCounting{word: key, count: value})
	}
	sort.Slice(result, func(i, j int) bool {
		if result[i].count != result[j].count {
			return result[i].count > result[j].count
		}
		return result[i].word < result[j].word
	})
	return result
}

func longestCounting() (string, int) {
	best, length := "", 0
	for idx, item := range countWords() {
		if size := len(item.word); size > length {
			best, length = item.word, size+idx
		}
	}
	return best, length
}

func main() {
	best, length := longestCounting()
	text := fmt.Sprint(countWords(), best, length)
	if text != "[{the 3} {and 2} {bird 1} {cat 1} {dog 1}]bird6" {
		panic(text)
	}
	fmt.Println(text)
}
