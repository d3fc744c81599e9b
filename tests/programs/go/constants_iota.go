// Constants and types that are declared inside functions.
package main

import "fmt"

func levelsIota() string {
	const (
		low = iota + 1
		middle
		high
	)
	type level int
	names := map[level]string{low: "low", middle: "middle", high: "high"}
	text := ""
	for value := level(low); value <= high; value++ {
		const low = "x"
		text += names[value] + low
	}
	return text
}

func localTypes() string {
	type point struct{ x, y int }
	x, y := 1, 2
	at := point{x: y, y: x}
	{
		type point struct{ x string }
		x := point{x: "inner"}
		return fmt.Sprint(at, x, y)
	}
}

func sizesIota() int {
	const unit = 1 << (10 * iota)
	var kilo, mega = unit * 2, unit * 3
	res := kilo + mega
	return res
}

func main() {
	if levelsIota() != "lowxmiddlexhighx" || localTypes() != "{2 1} {inner} 2" || sizesIota() != 5 {
		panic(levelsIota() + localTypes())
	}
	fmt.Println(levelsIota(), localTypes())
}
