// Promises with types, iterators with types.
import assert from "assert";

type Result<T> = { ok: true; value: T } | { ok: false; error: string };

async function attempt<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    const value = await work();
    return { ok: true, value };
  } catch (error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: message };
  }
}

function* pairs<K extends string>(object: Record<K, number>): Generator<[K, number]> {
  for (const key of Object.keys(object) as K[]) {
    const value = object[key];
    yield [key, value];
  }
}

async function run(): Promise<string> {
  const good = await attempt(async () => 5);
  const bad = await attempt<number>(async () => { throw new Error("no"); });
  const results: Result<number>[] = [good, bad];
  let text = "";
  for (const result of results) text += result.ok ? result.value : result.error;
  for (const [key, value] of pairs({ a: 1, b: 2 })) text += key + value;
  return text;
}

export = run().then((text: string): void => {
  assert.strictEqual(text, "5noa1b2");
  console.log(text);
});
