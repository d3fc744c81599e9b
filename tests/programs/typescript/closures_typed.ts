// Arrow functions with types, and names that several of them share.
import assert from "assert";

type Step = (value: number) => number;

function compose(...steps: Step[]): Step {
  const count = steps.length;
  const run: Step = (value) => steps.reduce((result: number, step: Step) => step(result), value);
  return (value: number): number => run(value) + count;
}

function counters(): number[] {
  const made: (() => number)[] = [];
  let total = 0;
  for (let index = 0; index < 3; index++) {
    const step = index + 1;
    made.push((): number => { total += step; return total; });
  }
  const value = made.map((make) => make());
  return [...value, total];
}

function defaults(): string {
  const first = "a";
  const join = (left: string = first, right = left, { sep = "-" }: { sep?: string } = {}): string => left + sep + right;
  const result = join() + join("b") + join("c", "d", { sep: "+" });
  return result;
}

function late(): [number, string] {
  let value: number | undefined;
  const read = (): number => value ?? -1;
  const before = read();
  value = 4;
  const typeName: string = typeof value;
  return [before + read(), typeName];
}

assert.strictEqual(compose((value) => value + 1, (value) => value * 3)(2), 11);
assert.deepStrictEqual(counters(), [1, 3, 6, 6]);
assert.strictEqual(defaults(), "a-ab-bc+d");
assert.deepStrictEqual(late(), [3, "number"]);
console.log(counters(), defaults(), late());
