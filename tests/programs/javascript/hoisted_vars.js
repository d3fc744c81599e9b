// Names that are used above their declaration, and declared again.
"use strict";
const assert = require("assert");

function above() {
  total = 3;
  var value = total * 2;
  if (value > 5) {
    var total = value + 1;
  }
  var total;
  for (var index = 0; index < 3; index++) {
    var last = index;
  }
  return [total, value, index, last];
}

function blocks() {
  let count = 1;
  var result = [];
  {
    let count = 2;
    result.push(count);
    {
      const count = 3;
      result.push(count);
    }
  }
  for (let count = 10; count < 12; count++) result.push(count);
  result.push(count);
  return result;
}

function dead() {
  var key = 1;
  var value = 2;
  try {
    later;
    let later = key;
    return later;
  } catch (error) {
    value += error instanceof ReferenceError ? 10 : 0;
  }
  return value;
}

assert.deepStrictEqual(above(), [7, 6, 3, 2]);
assert.deepStrictEqual(blocks(), [2, 3, 10, 11, 1]);
assert.strictEqual(dead(), 12);
console.log(above(), blocks());
