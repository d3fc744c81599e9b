// What a deferred call reads when it is deferred, and what when it runs.
package main

import "fmt"

func orderDefers() (log []string) {
	note := func(word string) { log = append(log, word) }
	name, round := "a", 0
	defer note(name)
	defer func() { note(name) }()
	for round < 2 {
		name := fmt.Sprint(name, round)
		defer note(name)
		round++
	}
	name = "z"
	return log
}

func recoverDefers() (msg string) {
	count, limit := 0, 3
	step := func() {
		defer func() {
			if err := recover(); err != nil {
				msg += fmt.Sprint(err)
				count++
			}
		}()
		if count < limit {
			panic(count)
		}
	}
	for i := 0; i < 5; i++ {
		step()
	}
	return
}

func main() {
	if fmt.Sprint(orderDefers()) != "[a1 a0 z a]" || recoverDefers() != "012" {
		panic(fmt.Sprint(orderDefers(), recoverDefers()))
	}
	fmt.Println(orderDefers(), recoverDefers())
}
