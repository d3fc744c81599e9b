// Functions inside functions: declared ones have names of their own.
const assert = require("assert");

function outer() {
  const value = 1;
  let total = 0;
  function inner(value) {
    const total = value * 2;
    return total;
  }
  function other() {
    total += value;
    let value2 = total;
    return value2;
  }
  total = inner(5);
  const result = other();
  return [value, total, result];
}

function immediate() {
  let count = 0;
  const list = [];
  (function () {
    var count = 10;
    list.push(count);
  })();
  (() => { count++; })();
  (function count() { list.push(typeof count); })();
  list.push(count);
  return list;
}

function recursion() {
  const path = [];
  const seen = new Set();
  const walk = (node, depth = 0) => {
    if (seen.has(node)) return depth;
    seen.add(node);
    path.push(node);
    const next = (node * 2) % 7;
    return walk(next, depth + 1);
  };
  const depth = walk(1);
  return [path, depth];
}

assert.deepStrictEqual(outer(), [1, 11, 11]);
assert.deepStrictEqual(immediate(), [10, "function", 1]);
assert.deepStrictEqual(recursion(), [[1, 2, 4], 3]);
console.log(outer(), immediate(), recursion());
