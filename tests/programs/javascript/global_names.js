// Names that are found outside of all functions, and locals that hide them.
const assert = require("assert");

let total = 1;
const key = "outer";
var shared = [];

function change() {
  total += 1;
  const before = total;
  {
    let total = 50;
    total++;
    shared.push(total);
  }
  return [before, total];
}

function hide() {
  const Math = { max: () => "mine" };
  const undefinedValue = void 0;
  const result = [Math.max(1, 2), typeof undefinedValue, key];
  const isNaN = key;
  return result.concat(isNaN);
}

function forms() {
  const a = typeof missing === "undefined";
  const b = (() => { try { missing; } catch (error) { return error.message; } })();
  const value = [a, b];
  return value;
}

assert.deepStrictEqual(change(), [2, 2]);
assert.deepStrictEqual(shared, [51]);
assert.deepStrictEqual(hide(), ["mine", "undefined", "outer", "outer"]);
assert.deepStrictEqual(forms(), [true, "missing is not defined"]);
console.log(change(), hide(), forms());
