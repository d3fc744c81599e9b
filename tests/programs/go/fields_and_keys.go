// Fields, keys of literals and keys of maps that are spelt like variables.
package main

import "fmt"

type rowFields struct {
	key, value int
	index      map[string]int
}

func packFields() []rowFields {
	key, value := 1, 2
	index := map[string]int{"key": key, "value": value}
	made := []rowFields{{key: value, value: key}, {key, value, index}}
	made = append(made, rowFields{value: key + 10, key: value + 10, index: index})
	for key := range made {
		made[key].key += key
	}
	return made
}

func countFields() map[int]string {
	first, second := 3, 4
	names := map[int]string{first: "first", second: "second", first + second: "both"}
	list := [...]string{2: "c", 0: "a"}
	pair := struct{ first, second int }{first: second, second: first}
	names[pair.first*10+pair.second] = list[2]
	return names
}

func arrayKeys() string {
	const low, high = 1, 3
	text := [...]string{low: "low", high: "high"}
	count := len(text)
	return fmt.Sprint(count, text[low], text[high])
}

func main() {
	made := packFields()
	text := fmt.Sprintf("%v %+v", made[0], made[2])
	if text != "{2 1 map[]} {key:14 value:11 index:map[key:1 value:2]}" {
		panic(text)
	}
	if fmt.Sprint(countFields()) != "map[3:first 4:second 7:both 43:c]" || arrayKeys() != "4lowhigh" {
		panic(fmt.Sprint(countFields(), arrayKeys()))
	}
	fmt.Println(text)
}
