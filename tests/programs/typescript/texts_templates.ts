// Names in texts: keys, template literal types, JSON.
import assert from "assert";

type Getter = `get${Capitalize<"name" | "size">}`;

function keys(): (string | number)[] {
  const key = "size" as const;
  const size = 4;
  const object: { [key: string]: number } = { size: 1, [`${key}2`]: size };
  const picked = object[key] + object["size2"];
  const text = JSON.stringify({ key: size });
  const getter: Getter = "getSize";
  return [picked, text, getter];
}

function format(): string {
  const parts: string[] = [];
  const values: [string, number][] = [["a", 1], ["b", 2]];
  for (const [name, value] of values) {
    const part = `${name}=${value + `${parts.length}`}`;
    parts.push(part);
  }
  const result = parts.join("&");
  return result;
}

function named(): string[] {
  const double = (value: number): number => value * 2;
  const Shape = class { name = "n"; };
  const list = [double.name, Shape.name, `${double(2)}`];
  return list;
}

assert.deepStrictEqual(keys(), [5, '{"key":4}', "getSize"]);
assert.strictEqual(format(), "a=10&b=21");
assert.deepStrictEqual(named(), ["double", "Shape", "4"]);
console.log(keys(), format(), named());
