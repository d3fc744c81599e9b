// Ordinary code: sorting, searching, words.
import assert from "assert";

function sorted(): number[] {
  const items: number[] = [5, 3, 8, 1];
  const merge = (left: number[], right: number[]): number[] => {
    const result: number[] = [];
    let i = 0;
    let j = 0;
    while (i < left.length && j < right.length) {
      if (left[i] <= right[j]) result.push(left[i++]);
      else result.push(right[j++]);
    }
    return [...result, ...left.slice(i), ...right.slice(j)];
  };
  const sort = (list: number[]): number[] => {
    if (list.length < 2) return list;
    const middle = list.length >> 1;
    return merge(sort(list.slice(0, middle)), sort(list.slice(middle)));
  };
  const result = sort(items);
  return result;
}

function search(): number {
  const values: readonly number[] = sorted();
  let low = 0;
  let high = values.length - 1;
  const wanted = 8;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function words(): Map<string, number> {
  const text = "b a b c a b";
  const counts = new Map<string, number>();
  for (const word of text.split(" ")) {
    const count: number = counts.get(word) ?? 0;
    counts.set(word, count + 1);
  }
  const result = new Map([...counts].sort(([, left], [, right]) => right - left));
  return result;
}

assert.deepStrictEqual(sorted(), [1, 3, 5, 8]);
assert.strictEqual(search(), 3);
assert.deepStrictEqual([...words()], [["b", 3], ["a", 2], ["c", 1]]);
console.log(sorted(), search(), words());
