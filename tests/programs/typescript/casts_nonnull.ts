// Casts, non-null marks and satisfies around variables.
import assert from "assert";

interface Node2 { value: number; next?: Node2 }

function casts(): (number | string)[] {
  const source: unknown = { value: 3 };
  const node = source as Node2;
  const count = <number>node.value;
  const next = node.next!;
  const text = (count as unknown as string) + "";
  const config = { key: count } satisfies Record<string, number>;
  let definite!: number;
  definite = config.key!;
  return [count, text, typeof next, definite];
}

function links(): number {
  let head: Node2 | undefined;
  for (const value of [1, 2, 3]) head = { value, next: head };
  let sum = 0;
  let current: Node2 | undefined = head;
  while (current !== undefined) {
    const { value: found, next } = current!;
    sum = sum * 10 + found;
    current = next as Node2 | undefined;
  }
  return sum;
}

assert.deepStrictEqual(casts(), [3, "3", "undefined", 3]);
assert.strictEqual(links(), 321);
console.log(casts(), links());
