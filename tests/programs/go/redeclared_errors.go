// A short declaration with one new name assigns the others.
package main

import (
	"errors"
	"fmt"
	"strconv"
)

var errRedeclared = errors.New("none")

func parseRedeclared() (string, error) {
	text, err := "4", errRedeclared
	number, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}
	if other, err := strconv.Atoi("x"); err == nil {
		number += other
	}
	more, err := strconv.Atoi("5" + text)
	val, err := number+more, err
	return strconv.Itoa(val), err
}

func failRedeclared() (msg string) {
	first, err := strconv.Atoi("7")
	second, err := strconv.Atoi("seven")
	if err != nil {
		msg = "second"
	}
	third, err := first+second, errRedeclared
	if err == nil || third != 7 {
		msg = "third"
	}
	return
}

func main() {
	text, err := parseRedeclared()
	if text != "58" || err != nil || failRedeclared() != "second" {
		panic(fmt.Sprint(text, err, failRedeclared()))
	}
	fmt.Println(text, err)
}
