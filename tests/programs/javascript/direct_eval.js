// Code that is read from texts, and a with statement: these functions keep all their names.
const assert = require("assert");

function calculate() {
  var left = 2;
  var right = 3;
  var total = eval("left * right + 1");
  return total;
}

function inside() {
  var size = 1;
  var other = 2;
  var box = { size: 10 };
  with (box) {
    other += size;
  }
  return [size, other];
}

function indirect() {
  const left = 5;
  const run = eval;
  const result = run("typeof left");
  return [result, left];
}

function arguments_() {
  const list = [];
  const read = (first) => { list.push(first); return arguments.length; };
  list.push(arguments[0], read(7));
  return list;
}

assert.strictEqual(calculate(), 7);
assert.deepStrictEqual(inside(), [1, 12]);
assert.deepStrictEqual(indirect(), ["undefined", 5]);
assert.deepStrictEqual(arguments_("x"), [7, "x", 1]);
console.log(calculate(), inside(), indirect());
