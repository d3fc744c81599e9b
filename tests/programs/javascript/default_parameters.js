// Default values see the parameters, not what the body declares.
const assert = require("assert");

let value = "outer";

function defaults(first = value, second = () => first, third = second()) {
  var first = "inner";
  const list = [first, second(), third];
  return list;
}

function hidden(read = () => value) {
  var value = "body";
  const before = read();
  const after = value;
  return [before, after];
}

function chain() {
  const start = 1;
  const add = (left = start, right = left + 1, ...more) => left + right + more.length;
  const total = add() + add(5) + add(1, 1, 1, 1);
  return total;
}

assert.deepStrictEqual(defaults(), ["inner", "outer", "outer"]);
assert.deepStrictEqual(hidden(), ["outer", "body"]);
assert.strictEqual(chain(), 3 + 11 + 4);
console.log(defaults(), hidden(), chain());
