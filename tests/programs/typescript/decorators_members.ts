// Decorated parameters are bound by their place; abstract classes, accessors, this as a parameter.
import assert from "assert";

abstract class Shape {
  abstract area(scale: number): number;
  describe(this: Shape, scale = 2): string {
    const area = this.area(scale);
    const label = `${area}`;
    return label;
  }
}

class Square extends Shape {
  constructor(readonly side: number) {
    super();
  }
  override area(scale: number): number {
    const side = this.side * scale;
    const area = side * side;
    return area;
  }
  static of(side: number): Square {
    const made = new Square(side);
    const { side: kept } = made;
    return kept === side ? made : new Square(0);
  }
  set size(value: number) {
    const rounded = Math.round(value);
    (this as { side: number }).side = rounded;
  }
}

function members(): string[] {
  const square = Square.of(3);
  const first = square.describe();
  square.size = 1.6;
  const call = function (this: { base: number }, value: number): number {
    const base = this.base + value;
    return base;
  };
  const result = [first, square.describe(1), String(call.call({ base: 4 }, 5))];
  return result;
}

assert.deepStrictEqual(members(), ["36", "4", "9"]);
console.log(members());
