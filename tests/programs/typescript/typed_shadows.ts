// Variables and types of one name, in blocks that hide each other.
import assert from "assert";

type Total = { value: number };
interface Row { key: string; value: number }

function shadows(): number[] {
  const value: Total = { value: 1 };
  let total: number = value.value;
  for (const value of [2, 3] as number[]) {
    const total: number = value * 10;
    if (total > 20) {
      let value: string = String(total);
      assert.strictEqual(value, "30");
    }
  }
  {
    type Total = string;
    const value: Total = "inner";
    total += value.length;
  }
  return [total, value.value];
}

function rows(): Row[] {
  const key: string = "a";
  const made: Row[] = [{ key, value: 1 }, { key: "b", value: 2 }];
  const result: Row[] = made.map(({ key: name, value }: Row): Row => ({ key: name + key, value }));
  return result;
}

assert.deepStrictEqual(shadows(), [6, 1]);
assert.deepStrictEqual(rows(), [{ key: "aa", value: 1 }, { key: "ba", value: 2 }]);
console.log(shadows(), rows());
