// Overloads, type parameters and types that read variables.
import assert from "assert";

function pick(value: string): string;
function pick(value: number, times: number): number;
function pick(value: string | number, times = 2): string | number {
  const result = typeof value === "string" ? value.repeat(times) : value * times;
  const text = `${result}`;
  return typeof value === "string" ? text : Number(text);
}

function fold<T, R = T>(items: readonly T[], start: R, join: (result: R, item: T) => R): R {
  let result: R = start;
  for (const item of items) result = join(result, item);
  return result;
}

function queries(): [number, string] {
  const sample = { count: 1, name: "n" };
  const other: typeof sample = { count: 2, name: "m" };
  const keys: (keyof typeof sample)[] = ["count", "name"];
  let text = "";
  let total: (typeof sample)["count"] = 0;
  for (const key of keys) {
    const value = other[key];
    if (typeof value === "number") total += value;
    else text += value;
  }
  return [total, text];
}

function tuples(): string {
  const pair: [first: number, second: string] = [1, "b"];
  const [second, first] = pair;
  const mapped: { [key in "a" | "b"]: number } = { a: second, b: first.length };
  const call: (first: number, ...rest: string[]) => string = (value, ...others) => others.join(`${value}`);
  return call(mapped.a, "x", "y") + mapped.b;
}

assert.deepStrictEqual([pick("a"), pick(2, 3)], ["aa", 6]);
assert.strictEqual(fold([1, 2, 3], "", (text, item) => text + item), "123");
assert.deepStrictEqual(queries(), [2, "m"]);
assert.strictEqual(tuples(), "x1y1");
console.log(pick("a"), queries(), tuples());
