// One name, another type in every case; the value is read before the name is there.
package main

import "fmt"

type namedSwitch struct{ value int }

func describeSwitch() string {
	values := []any{1, "two", namedSwitch{3}, nil, []int{4}}
	text, count := "", 0
	for _, value := range values {
		switch value := value.(type) {
		case int:
			text += fmt.Sprint(value + 1)
		case string:
			value += "!"
			text += value
		case namedSwitch:
			text += fmt.Sprint(value.value)
		case nil:
			text += fmt.Sprint(value)
		default:
			text += fmt.Sprint(value)
		}
		count++
	}
	return text + fmt.Sprint(count)
}

func nestedSwitch() int {
	var item any = any(7)
	total, depth := 0, 0
	switch item := item.(type) {
	case int:
		var inner any = item
		switch inner := inner.(type) {
		case string:
			depth = len(inner)
		case int:
			total += inner + item
		}
	}
	switch num := total; {
	case num > 10:
		num++
		total = num
		fallthrough
	default:
		depth += 2
	}
	return total + depth
}

func main() {
	if describeSwitch() != "2two!3<nil>[4]5" || nestedSwitch() != 17 {
		panic(fmt.Sprint(describeSwitch(), nestedSwitch()))
	}
	fmt.Println(describeSwitch())
}
