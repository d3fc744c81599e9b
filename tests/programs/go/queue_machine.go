// A state machine with a queue: many locals that live long.
package main

import "fmt"

type eventMachine struct{ kind, data string }

func runMachine() []string {
	queue := []eventMachine{{"open", "a"}, {"write", "b"}, {"close", ""}, {"write", "c"}}
	state, output := "idle", []string{}
	for len(queue) > 0 {
		event := queue[0]
		queue = queue[1:]
		prev := state
		switch kind := event.kind; {
		case kind == "open" && state == "idle":
			state = "ready"
		case kind == "write" && state == "ready":
			output = append(output, event.data)
		case kind == "close":
			state = "idle"
			queue = append(queue, eventMachine{kind: "open", data: prev})
		default:
			output = append(output, "refused "+kind)
		}
		if kind := event.data; prev != state && kind != "" {
			output = append(output, prev+">"+state)
		}
	}
	return append(output, state)
}

func treeMachine() int {
	type node struct {
		left, right *node
		value       int
	}
	var insert func(root *node, value int) *node
	insert = func(root *node, value int) *node {
		if root == nil {
			return &node{value: value}
		}
		if value < root.value {
			root.left = insert(root.left, value)
		} else {
			root.right = insert(root.right, value)
		}
		return root
	}
	var root *node
	for _, value := range []int{5, 2, 8, 1} {
		root = insert(root, value)
	}
	depth, cur := 0, root
	for cur != nil {
		depth, cur = depth+1, cur.left
	}
	return depth
}

func main() {
	text := fmt.Sprint(runMachine(), treeMachine())
	if text != "[idle>ready b refused write idle>ready ready] 3" {
		panic(text)
	}
	fmt.Println(text)
}
