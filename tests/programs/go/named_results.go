// Results with names: bare returns, deferred changes, and locals that hide them.
package main

import (
	"errors"
	"fmt"
)

func safelyNamed(work func() int) (res int, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			res, err = -1, fmt.Errorf("caught: %v", problem)
		}
	}()
	before, after := 1, 2
	res = work() + before
	res += after
	return
}

func hiddenNamed() (total int, err error) {
	if total, err := 5, errors.New("inner"); err != nil {
		count := total
		return count, nil
	}
	return
}

func twiceNamed() (first, second string) {
	second, first = "a", "b"
	tmp := first
	defer func() { second += tmp }()
	func() (first string) {
		first = "inner"
		return
	}()
	return first + "1", second + "2"
}

func main() {
	res, err := safelyNamed(func() int { return 4 })
	bad, problem := safelyNamed(func() int { panic("no") })
	total, _ := hiddenNamed()
	first, second := twiceNamed()
	if res != 7 || err != nil || bad != -1 || total != 5 || first+second != "b1a2b" {
		panic(fmt.Sprint(res, err, bad, total, first, second))
	}
	fmt.Println(res, bad, problem, first, second)
}
