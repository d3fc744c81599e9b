// this, bind and spread: names of parameters in calls that pass by place.
const assert = require("assert");

function bound() {
  const name = "local";
  const object = { name: "object", read() { const self = this; return [self.name, name, (() => this.name)()]; } };
  const read = object.read.bind({ name: "bound" });
  const result = [object.read(), read()];
  return result;
}

function spread() {
  const first = [1, 2];
  const second = { key: 1, value: 2 };
  const sum = (...values) => values.reduce((left, right) => left + right, 0);
  const joined = { ...second, key: sum(...first, ...first) };
  const { length } = [...first, ..."ab"];
  return [joined, length];
}

function chains() {
  const item = { parts: [{ name: "x" }], call: null };
  const name = item?.parts?.[0]?.name ?? "none";
  const other = item.call?.(name) ?? item.none?.name ?? "other";
  let count = null;
  count ??= 3;
  count ||= 4;
  count &&= count + 1;
  count **= 2;
  return [name, other, count];
}

assert.deepStrictEqual(bound(), [["object", "local", "object"], ["bound", "local", "bound"]]);
assert.deepStrictEqual(spread(), [{ key: 6, value: 2 }, 4]);
assert.deepStrictEqual(chains(), ["x", "other", 16]);
console.log(JSON.stringify([bound(), spread(), chains()]));
