// Arrow functions in chains, each with a name of the one before.
const assert = require("assert");

function pipeline() {
  const orders = [
    { item: "pen", price: 2, count: 3 },
    { item: "cup", price: 5, count: 1 },
    { item: "pen", price: 2, count: 4 },
  ];
  const totals = orders.reduce((result, { item, price, count }) => {
    const total = (result[item] || 0) + price * count;
    return { ...result, [item]: total };
  }, {});
  const result = Object.entries(totals).sort(([, left], [, right]) => right - left);
  const best = result.map(([item, total]) => `${item}=${total}`);
  return best;
}

function nested() {
  const rows = [[1, 2], [3, 4]];
  const value = 10;
  const sums = rows.map((row) => row.map((value) => value * value).reduce((sum, value) => sum + value, value));
  const index = sums.findIndex((sum, index, sums) => sum > sums[0] && index > 0);
  return [sums, index];
}

function curried() {
  const add = (left) => (right) => (left, middle = right) => left + right + middle;
  const result = add(1)(2)(3);
  const apply = (fn, ...args) => fn(...args);
  return [result, apply((a, b) => a - b, 9, 4)];
}

assert.deepStrictEqual(pipeline(), ["pen=14", "cup=5"]);
assert.deepStrictEqual(nested(), [[15, 35], 1]);
assert.deepStrictEqual(curried(), [7, 5]);
console.log(pipeline(), nested(), curried());
