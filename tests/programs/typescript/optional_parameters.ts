// Optional and rest parameters, and locals that take their place.
import assert from "assert";

function greet(name?: string, { polite = false, times = 1 }: { polite?: boolean; times?: number } = {}): string {
  const who = name ?? "you";
  const word = polite ? "Good day" : "Hi";
  const text = `${word} ${who}`;
  return Array.from({ length: times }, () => text).join();
}

function total(first: number, second = first * 2, ...others: readonly number[]): number {
  let sum = first + second;
  for (const other of others) {
    const first = other * 100;
    sum += first;
  }
  return sum;
}

function locals(): number[] {
  const first = 1;
  let second: number | null = null;
  const result: number[] = [];
  for (const value of [first, second, 3]) {
    const number = value ?? -1;
    result.push(number);
    second = number;
  }
  result.push(second as unknown as number);
  return result;
}

assert.strictEqual(greet(undefined, { times: 2 }), "Hi you,Hi you");
assert.strictEqual(greet("A", { polite: true }), "Good day A");
assert.strictEqual(total(1), 3);
assert.strictEqual(total(1, 1, 1), 102);
assert.deepStrictEqual(locals(), [1, -1, 3, 3]);
console.log(greet(), total(2), locals());
