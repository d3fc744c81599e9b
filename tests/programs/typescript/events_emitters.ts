// Listeners with types: index signatures, function types, optional calls.
import assert from "assert";

interface Events { [name: string]: ((event: string, count: number) => void)[] }

class Emitter {
  private readonly events: Events = {};
  on(name: string, listener: (event: string, count: number) => void): () => void {
    const listeners = (this.events[name] ??= []);
    const index = listeners.push(listener) - 1;
    return () => {
      const removed = listeners.splice(index, 1);
      assert.strictEqual(removed.length, 1);
    };
  }
  emit(name: string, ...[event, count = 1]: [string, number?]): number {
    const listeners = this.events[name] ?? [];
    let called = 0;
    for (const listener of listeners) {
      listener?.(event, count);
      called++;
    }
    return called;
  }
}

function listen(): (string | number)[] {
  const log: (string | number)[] = [];
  const emitter = new Emitter();
  const off = emitter.on("open", (event, count) => log.push(`${event}${count}`));
  let total = emitter.emit("open", "a");
  off();
  total += emitter.emit("open", "b", 2);
  log.push(total);
  return log;
}

assert.deepStrictEqual(listen(), ["a1", 1]);
console.log(listen());
