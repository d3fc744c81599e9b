// Functions that are declared in blocks, and their names outside of them.
const assert = require("assert");

function block() {
  const seen = [typeof inner];
  let count = 1;
  if (count) {
    seen.push(typeof inner);
    function inner() { return count; }
    seen.push(inner());
  }
  seen.push(typeof inner);
  return seen;
}

function hoisted() {
  const result = helper(2);
  function helper(count) {
    const result = count * 10;
    return result;
  }
  var helper;
  return [result, typeof helper];
}

function named() {
  let total = 0;
  const fact = function total(count) { return count < 2 ? 1 : count * total(count - 1); };
  total = fact(5);
  const generator = function* count(limit) { for (let i = 0; i < limit; i++) yield i; };
  const list = [...generator(3)];
  return [total, list, fact.name];
}

assert.deepStrictEqual(block(), ["undefined", "function", 1, "function"]);
assert.deepStrictEqual(hoisted(), [20, "function"]);
assert.deepStrictEqual(named(), [120, [0, 1, 2], "total"]);
console.log(block(), hoisted(), named());
