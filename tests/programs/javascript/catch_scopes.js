// What catch binds, what hides it, and var through it.
const assert = require("assert");

function caught() {
  let error = "outer";
  const notes = [];
  try {
    throw new Error("inner");
  } catch (error) {
    const message = error.message;
    notes.push(message);
    {
      let error = "deeper";
      notes.push(error);
    }
  } finally {
    let error = "last";
    notes.push(error);
  }
  notes.push(error);
  return notes;
}

function through() {
  var result = [];
  try {
    throw 1;
  } catch (value) {
    var value = 2;
    var other = value;
    result.push(value);
  }
  result.push(value, other);
  return result;
}

function patterns() {
  const found = [];
  try {
    throw { code: 5, parts: ["a", "b"] };
  } catch ({ code: number, parts: [first, second] }) {
    found.push(number, first, second);
  }
  try {
    null.x;
  } catch {
    found.push("none");
  }
  return found;
}

assert.deepStrictEqual(caught(), ["inner", "deeper", "last", "outer"]);
assert.deepStrictEqual(through(), [2, undefined, 2]);
assert.deepStrictEqual(patterns(), [5, "a", "b", "none"]);
console.log(caught(), through(), patterns());
