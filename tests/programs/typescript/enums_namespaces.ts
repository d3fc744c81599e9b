// Enums and namespaces: their members come before variables of the same name.
import assert from "assert";

enum Color { red = 1, green = red + 1, blue = green * 2 }
namespace Shapes {
  export const side = 3;
  const hidden = side * 2;
  export function area(size = side): number {
    const side = size + hidden;
    const result = side * size;
    return result;
  }
}

function colors(): (string | number)[] {
  const red = 10;
  const start = red;
  enum Local { red = 5, other = red + 1 }
  const names = [Color[1], Local[6], Color.blue];
  const value = Color["green"] as number;
  return [...names, value, start + Local.other];
}

function shapes(): number {
  const side = 1;
  const value = Shapes.side;
  const result = Shapes.area() + value + side;
  return result;
}

assert.deepStrictEqual(colors(), ["red", "other", 4, 2, 16]);
assert.strictEqual(shapes(), 31);
console.log(colors(), shapes());
