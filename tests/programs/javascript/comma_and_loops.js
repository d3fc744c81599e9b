// Loops with several variables, comma expressions, void and labels on blocks.
const assert = require("assert");

function both() {
  const pairs = [];
  for (let left = 0, right = 4; left < right; left++, right--) {
    const middle = (left + right) / 2;
    pairs.push([left, right, middle]);
  }
  let last = (pairs.length, pairs[pairs.length - 1]);
  return last;
}

function keysOf() {
  const object = { a: 1, b: 2 };
  let result = "";
  for (const key in object) result += key + object[key];
  for (var key in [7]) result += key;
  for (result.length in {}) result = "never";
  do { var step = result.length; result += step; } while (step < 6);
  return result + key;
}

function unary() {
  let count = 3;
  const list = [count++, ++count, -count, ~count, !count, typeof count, void count];
  const value = delete list[0];
  return [count, value, list.length, list[1]];
}

assert.deepStrictEqual(both(), [1, 3, 2]);
assert.strictEqual(keysOf(), "a1b20560");
assert.deepStrictEqual(unary(), [5, true, 7, 5]);
console.log(both(), keysOf(), unary());
