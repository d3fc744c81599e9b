// Type predicates and assertions that name a parameter.
import assert from "assert";

interface Cat { meow: string }
interface Dog { bark: string }

function isCat(animal: Cat | Dog): animal is Cat {
  const found = "meow" in animal;
  const result: boolean = found && true;
  return result;
}

function check(value: unknown, label = "value"): asserts value is string {
  const kind = typeof value;
  const message = `${label} is ${kind}`;
  if (kind !== "string") throw new Error(message);
}

function sounds(): string[] {
  const animals: (Cat | Dog)[] = [{ meow: "m" }, { bark: "b" }];
  const result: string[] = [];
  for (const animal of animals) {
    const sound = isCat(animal) ? animal.meow : animal.bark;
    result.push(sound);
  }
  const isDog = (animal: Cat | Dog): animal is Dog => !isCat(animal);
  return result.concat(animals.filter(isDog).map((dog) => dog.bark));
}

function checked(): string {
  const values: unknown[] = ["a", 1];
  let text = "";
  for (const value of values) {
    try {
      check(value, "item");
      text += value.toUpperCase();
    } catch (error: unknown) {
      const message = (error as Error).message;
      text += message;
    }
  }
  return text;
}

assert.deepStrictEqual(sounds(), ["m", "b", "b"]);
assert.strictEqual(checked(), "Aitem is number");
console.log(sounds(), checked());
