// Interfaces, wrapped errors, and parameters with names in types.
package main

import (
	"errors"
	"fmt"
)

type shapeInterfaces interface {
	area(scale int) (area int)
}

type squareInterfaces struct{ side int }

func (s squareInterfaces) area(scale int) int {
	side := s.side * scale
	area := side * side
	return area
}

type missingInterfaces struct{ name string }

func (m *missingInterfaces) Error() string { return "missing " + m.name }

func findInterfaces(name string) error {
	err := error(&missingInterfaces{name: name})
	return fmt.Errorf("find: %w", err)
}

func checkInterfaces() string {
	var target *missingInterfaces
	var shape shapeInterfaces = squareInterfaces{2}
	err := findInterfaces("x")
	name := "other"
	if errors.As(err, &target) {
		name = target.name
	}
	var measure func(shape shapeInterfaces, scale int) (area int)
	measure = func(one shapeInterfaces, scale int) int { return one.area(scale) }
	if square, ok := shape.(squareInterfaces); ok {
		name += fmt.Sprint(square.side)
	}
	return fmt.Sprint(name, measure(shape, 3), err)
}

func main() {
	if checkInterfaces() != "x236 find: missing x" {
		panic(checkInterfaces())
	}
	fmt.Println(checkInterfaces())
}
