// Properties that are variables at once, and properties that are only spelt alike.
const assert = require("assert");

function pack() {
  const key = 1;
  const value = 2;
  const total = key + value;
  const made = { key, value, total: key, "other": total };
  made.key += value;
  return made;
}

function unpack() {
  const source = { key: 1, value: 2, size: 3 };
  const { key, value: val, size = 9, none = key } = source;
  let result = [key, val, size, none];
  ({ key: result[0], value: result[1] } = { key: 7, value: 8 });
  return result;
}

function methods() {
  const count = 4;
  const name = "dynamic";
  const made = {
    count() { return count; },
    get size() { return count * 2; },
    [name]: count,
    [`${name}2`]() { return name; },
    inner: { count: count + 1 },
  };
  return [made.count(), made.size, made.dynamic, made.dynamic2(), made.inner.count];
}

assert.deepStrictEqual(pack(), { key: 3, value: 2, total: 1, other: 3 });
assert.deepStrictEqual(unpack(), [7, 8, 3, 1]);
assert.deepStrictEqual(methods(), [4, 8, 4, "dynamic", 5]);
console.log(JSON.stringify([pack(), unpack(), methods()]));
