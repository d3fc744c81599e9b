// Locals that hide builtins, packages and functions of the file.
package main

import (
	"fmt"
	"strings"
)

func helperHidden() int { return 1 }

func hideBuiltins() string {
	len, cap := 3, 4
	string, nil := "text", 0
	total := len + cap + nil
	true := false
	if true {
		return "never"
	}
	return string + fmt.Sprint(total)
}

func hidePackages() string {
	text := strings.ToUpper("a")
	val, count := strings.Repeat(text, 3), 0
	{
		strings := []string{"b", val}
		count = len(strings)
		text += strings[0]
	}
	return text + fmt.Sprint(count) + strings.ToLower(text)
}

func hideFunctions() int {
	first, second := helperHidden(), 2
	helperHidden := func() int { return first * 10 }
	result := helperHidden() + second
	return result
}

func main() {
	if hideBuiltins() != "text7" || hidePackages() != "Ab2ab" || hideFunctions() != 12 {
		panic(hideBuiltins() + hidePackages())
	}
	fmt.Println(hideBuiltins(), hidePackages(), hideFunctions())
}
