// Goroutines that get their names as arguments, or share them under a lock.
package main

import (
	"fmt"
	"sync"
)

func totalsGoroutines() int {
	var lock sync.Mutex
	var group sync.WaitGroup
	total, count := 0, 5
	for index := 0; index < count; index++ {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			part := index * index
			lock.Lock()
			defer lock.Unlock()
			total += part
		}(index)
	}
	group.Wait()
	return total
}

func orderGoroutines() []string {
	jobs, results := make(chan int), make(chan string)
	var once sync.Once
	started := ""
	go func() {
		for job := range jobs {
			once.Do(func() { started = "once" })
			results <- fmt.Sprint("job", job)
		}
		close(results)
	}()
	go func() {
		for job := 0; job < 2; job++ {
			jobs <- job
		}
		close(jobs)
	}()
	all := []string{}
	for result := range results {
		all = append(all, result)
	}
	return append(all, started)
}

func main() {
	if totalsGoroutines() != 30 || fmt.Sprint(orderGoroutines()) != "[job0 job1 once]" {
		panic(fmt.Sprint(totalsGoroutines(), orderGoroutines()))
	}
	fmt.Println(totalsGoroutines())
}
