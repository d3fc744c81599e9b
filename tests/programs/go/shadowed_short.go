// Names that a short declaration hides: in blocks, in heads of statements, on their own right side.
package main

import "fmt"

func shadowInBlocks() (int, int) {
	total, step := 10, 1
	if total := total + step; total > 10 {
		step := total * 2
		total = step
		_ = total
	} else if step := total; step > 0 {
		total += step
	}
	for total := 0; total < 3; total++ {
		step := step + total
		_ = step
	}
	{
		total := total
		total++
		step += total
	}
	return total, step
}

func shadowOwnRightSide() int {
	result := 1
	{
		result := result + 1
		result = result * 10
		if result := result; result == 20 {
			result = 7
		}
		if result != 20 {
			return result
		}
	}
	count := result
	return count
}

func main() {
	total, step := shadowInBlocks()
	if total != 10 || step != 12 {
		panic(fmt.Sprint(total, step))
	}
	if shadowOwnRightSide() != 1 {
		panic("hidden")
	}
	fmt.Println(total, step)
}
