// Ordinary code: a list, a tree, a queue with priorities.
const assert = require("assert");

function reverse() {
  let head = null;
  for (const value of [3, 2, 1]) head = { value, next: head };
  let previous = null;
  let current = head;
  while (current) {
    const next = current.next;
    current.next = previous;
    previous = current;
    current = next;
  }
  const list = [];
  for (let node = previous; node; node = node.next) list.push(node.value);
  return list;
}

function shortest() {
  const graph = { a: { b: 1, c: 4 }, b: { c: 2, d: 6 }, c: { d: 3 }, d: {} };
  const distance = { a: 0 };
  const queue = ["a"];
  while (queue.length) {
    queue.sort((left, right) => distance[left] - distance[right]);
    const node = queue.shift();
    for (const [next, cost] of Object.entries(graph[node])) {
      const found = distance[node] + cost;
      if (!(next in distance) || found < distance[next]) {
        distance[next] = found;
        queue.push(next);
      }
    }
  }
  return distance;
}

function memo() {
  const cache = new Map();
  const count = { calls: 0 };
  const fib = (index) => {
    if (index < 2) return index;
    if (cache.has(index)) return cache.get(index);
    count.calls++;
    const value = fib(index - 1) + fib(index - 2);
    cache.set(index, value);
    return value;
  };
  const result = fib(40);
  return [result, count.calls];
}

assert.deepStrictEqual(reverse(), [3, 2, 1]);
assert.deepStrictEqual(shortest(), { a: 0, b: 1, c: 3, d: 6 });
assert.deepStrictEqual(memo(), [102334155, 39]);
console.log(reverse(), shortest(), memo());
