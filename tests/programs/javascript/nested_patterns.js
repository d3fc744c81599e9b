// Patterns inside patterns, with defaults that read other names.
const assert = require("assert");

function read() {
  const source = { key: 1, list: [2, { deep: 3 }, 4, 5], rest: 6, more: 7 };
  const { key: first, list: [second, { deep: third = first }, ...others], missing: fourth = first + 1, ...left } = source;
  const [a, , b = a, ...[c]] = [10, 20, undefined, 40];
  return [first, second, third, others, fourth, left, a, b, c];
}

function parameters({ key: value = 5, nested: { deep: [inner] = [value] } = {} } = {}, [head, ...tail] = [inner]) {
  const result = [value, inner, head];
  return result.concat(tail);
}

function assign() {
  let left = 1;
  let right = 2;
  const box = {};
  [left, right] = [right, left];
  ({ a: left, b: box.value, c: [right = left] = [] } = { a: left + 5, b: 9 });
  for ({ x: left, y: box["other"] } of [{ x: 3, y: 4 }]) right += left;
  return [left, right, box];
}

function swap() {
  const pairs = [[1, 2], [3, 4]];
  let sum = 0;
  for (const [first, second] of pairs) sum += first * second;
  const result = pairs.map(([second, first]) => [first, second]);
  return [sum, result];
}

assert.deepStrictEqual(read(), [1, 2, 3, [4, 5], 2, { rest: 6, more: 7 }, 10, 10, 40]);
assert.deepStrictEqual(parameters(), [5, 5, 5]);
assert.deepStrictEqual(parameters({ key: 1 }, [2, 3]), [1, 1, 2, 3]);
assert.deepStrictEqual(assign(), [3, 10, { value: 9, other: 4 }]);
assert.deepStrictEqual(swap(), [14, [[2, 1], [4, 3]]]);
console.log(JSON.stringify([read(), assign(), swap()]));
