// Closures over loop variables: one for all rounds, or one for each.
const assert = require("assert");

function shared() {
  var made = [];
  for (var i = 0; i < 3; i++) {
    made.push(() => i);
  }
  var result = made.map((make) => make());
  return result;
}

function each() {
  const made = [];
  let offset = 10;
  for (let i = 0; i < 3; i++) {
    made.push((offset) => i + offset);
    i += 0;
  }
  for (const i of [7, 8]) made.push(() => i + offset);
  offset = 100;
  return made.map((make) => make(1));
}

function counter() {
  let count = 0;
  const step = 2;
  const api = {
    up() { count += step; return api; },
    get value() { return count; },
  };
  const other = function count() { return typeof count; };
  return [api.up().up().value, other()];
}

assert.deepStrictEqual(shared(), [3, 3, 3]);
assert.deepStrictEqual(each(), [1, 2, 3, 107, 108]);
assert.deepStrictEqual(counter(), [4, "function"]);
console.log(shared(), each(), counter());
