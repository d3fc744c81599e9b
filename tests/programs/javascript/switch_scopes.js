// All cases of a switch share one scope.
const assert = require("assert");

function kinds() {
  const result = [];
  const words = ["a", "b", "c"];
  for (const word of words) {
    let label = "none";
    switch (word) {
      case "a": {
        let label = "inner";
        result.push(label);
        break;
      }
      case "b":
        let shared = word + word;
        var leaked = shared;
        label = shared;
      default:
        shared = "default";
        result.push(label, shared);
    }
  }
  result.push(leaked);
  return result;
}

function labels() {
  let outer = 0;
  let count = 0;
  outer: for (const row of [[1, 2], [3, 4]]) {
    for (const value of row) {
      if (value === 2) continue outer;
      if (value === 4) break outer;
      count += value;
      outer++;
    }
  }
  block: {
    if (count) break block;
    count = -1;
  }
  return [outer, count];
}

assert.deepStrictEqual(labels(), [2, 4]);
let thrown = null;
try { kinds(); } catch (error) { thrown = error.name; }
assert.strictEqual(thrown, "ReferenceError");
console.log(labels(), thrown);
