// Classes inside functions, with members and parameters of the same names.
import assert from "assert";

function local(): (string | number)[] {
  const value = 1;
  let total = 0;
  class Box<T> {
    value: T;
    static total = value + 1;
    #hidden = value * 10;
    constructor(value: T) {
      this.value = value;
      total += 1;
    }
    read(): [T, number] {
      const value = this.value;
      const hidden = this.#hidden;
      return [value, hidden];
    }
  }
  const box = new Box("t");
  const [text, hidden] = box.read();
  return [text, hidden, Box.total, total, value];
}

function mixed(): string {
  const name = "outer";
  const Named = <B extends new (...values: any[]) => object>(Base: B) =>
    class extends Base {
      name = name;
      label(name: string): string {
        const own = this.name;
        return own + name;
      }
    };
  const made = new (Named(class {}))();
  const result = made.label("!");
  return result;
}

assert.deepStrictEqual(local(), ["t", 10, 2, 1, 1]);
assert.strictEqual(mixed(), "outer!");
console.log(local(), mixed());
