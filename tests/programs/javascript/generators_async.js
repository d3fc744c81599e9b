// Generators, async functions and what they await.
const assert = require("assert");

function* numbers(limit) {
  let count = 0;
  while (count < limit) {
    const reset = yield count++;
    if (reset) count = 0;
  }
  return "end";
}

function collect() {
  const result = [];
  const iterator = numbers(3);
  result.push(iterator.next().value, iterator.next().value, iterator.next(true).value);
  for (const value of numbers(2)) result.push(value);
  const spread = [...numbers(2), ...(function* () { yield* numbers(1); })()];
  return result.concat(spread);
}

async function wait() {
  const log = [];
  const sleep = (value) => new Promise((resolve) => setImmediate(resolve, value));
  const first = await sleep("a");
  for await (const value of [sleep("b"), "c"]) log.push(value);
  const [second, third] = await Promise.all([sleep(1), (async () => 2)()]);
  try {
    await Promise.reject(new Error("no"));
  } catch (error) {
    const message = error.message;
    log.push(message);
  }
  return [first, log, second + third];
}

assert.deepStrictEqual(collect(), [0, 1, 0, 0, 1, 0, 1, 0]);
module.exports = wait().then((result) => {
  assert.deepStrictEqual(result, ["a", ["b", "c", "no"], 3]);
  console.log(collect(), result);
});
