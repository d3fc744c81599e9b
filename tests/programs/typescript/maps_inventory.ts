// Ordinary code: an inventory with maps, sets and optional values.
import assert from "assert";

interface Item { name: string; count: number; tags?: string[] }

class Inventory {
  private readonly items = new Map<string, Item>();
  add(item: Item): this {
    const known = this.items.get(item.name);
    const count = (known?.count ?? 0) + item.count;
    const tags = [...new Set([...(known?.tags ?? []), ...(item.tags ?? [])])];
    this.items.set(item.name, { ...item, count, tags });
    return this;
  }
  *[Symbol.iterator](): IterableIterator<Item> {
    const items = [...this.items.values()];
    items.sort((left, right) => right.count - left.count);
    for (const item of items) yield item;
  }
}

function report(): string[] {
  const inventory = new Inventory();
  inventory.add({ name: "pen", count: 2, tags: ["a"] }).add({ name: "cup", count: 3 });
  inventory.add({ name: "pen", count: 4, tags: ["b", "a"] });
  const result: string[] = [];
  let index = 0;
  for (const { name, count, tags = [] } of inventory) {
    const text = `${index}:${name}=${count}[${tags.join()}]`;
    result.push(text);
    index++;
  }
  return result;
}

function group(): Record<string, number[]> {
  const values: readonly number[] = [1, 2, 3, 4];
  const result: Record<string, number[]> = {};
  for (const value of values) {
    const key = value % 2 ? "odd" : "even";
    (result[key] ??= []).push(value);
  }
  return result;
}

assert.deepStrictEqual(report(), ["0:pen=6[a,b]", "1:cup=3[]"]);
assert.deepStrictEqual(group(), { odd: [1, 3], even: [2, 4] });
console.log(report(), group());
