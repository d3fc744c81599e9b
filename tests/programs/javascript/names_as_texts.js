// Names that are read as texts: keys, JSON, functions' own names, stacks.
const assert = require("assert");

function keys() {
  const key = "value";
  const value = 3;
  const table = { key: 1, value: 2 };
  const picked = table["key"] + table[key] + value;
  const text = JSON.stringify({ key: value, value: key });
  return [picked, text];
}

function own() {
  const double = (value) => value * 2;
  let triple = function () { return 3; };
  const { quad = () => 4 } = {};
  const Shape = class {};
  const list = [double, triple, quad, Shape].map((each) => each.name);
  return list;
}

function lookups() {
  const count = 2;
  const field = "count";
  const object = { [field]: count, has: "count" in { count: 1 } };
  delete object["none"];
  const { [field]: found } = object;
  return [found, object.has, typeof object.count];
}

assert.deepStrictEqual(keys(), [6, '{"key":3,"value":"value"}']);
assert.deepStrictEqual(own(), ["double", "triple", "quad", "Shape"]);
assert.deepStrictEqual(lookups(), [2, true, "number"]);
console.log(keys(), own(), lookups());
