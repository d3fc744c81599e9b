// Unions that a switch tells apart; labels, exhaustive checks.
import assert from "assert";

type Shape = { kind: "circle"; radius: number } | { kind: "box"; width: number; height: number };

function area(shape: Shape): number {
  let result = 0;
  switch (shape.kind) {
    case "circle": {
      const { radius } = shape;
      const square = radius ** 2;
      result = 3 * square;
      break;
    }
    case "box":
      const { width: first, height: second } = shape;
      result = first * second;
      break;
    default:
      const never: never = shape;
      throw new Error(String(never));
  }
  return result;
}

function total(): number {
  const shapes: Shape[] = [{ kind: "circle", radius: 2 }, { kind: "box", width: 3, height: 4 }];
  let sum = 0;
  outer: for (const shape of shapes) {
    for (const limit of [12, 5] as const) {
      const size = area(shape);
      if (size > limit) continue outer;
      sum += size;
    }
  }
  return sum;
}

function flags(): string {
  const names = ["a", "b", "c"] as const;
  type Name = (typeof names)[number];
  const values: Record<Name, boolean> = { a: true, b: false, c: true };
  let text = "";
  for (const name of names) if (values[name]) text += name;
  return text;
}

assert.strictEqual(total(), 24);
assert.strictEqual(flags(), "ac");
console.log(total(), flags());
