// Members of classes that are spelt like variables; private ones, static blocks, accessors.
const assert = require("assert");

class Account {
  #total = 0;
  static count = 0;
  limit = 100;
  static {
    const count = 5;
    let total = count * 2;
    Account.count = total;
  }
  constructor(total, limit = 10) {
    const count = Account.count;
    this.#total = total;
    this.limit += limit;
    Account.count = count + 1;
  }
  get total() {
    const total = this.#total;
    return total;
  }
  set total(value) {
    let total = value;
    if (total > this.limit) total = this.limit;
    this.#total = total;
  }
  add(...values) {
    let total = this.#total;
    for (const value of values) total += value;
    this.total = total;
    return this;
  }
  static from({ total }, name = "name") {
    const made = new this(total);
    made[name] = total;
    return made;
  }
}

function derive() {
  const total = 3;
  const Base = class Account { total() { return total; } name() { return Account.name; } };
  class Derived extends Base {
    total() { const value = super.total(); return value + total; }
    [`get${total}`]() { return this.total(); }
  }
  const made = new Derived();
  return [made.total(), made.get3(), made.name()];
}

const account = Account.from({ total: 4 }, "extra").add(1, 2, 3);
assert.deepStrictEqual([account.total, account.extra, Account.count, account.limit], [10, 4, 11, 110]);
account.total = 1000;
assert.strictEqual(account.total, 110);
assert.deepStrictEqual(derive(), [6, 6, "Account"]);
console.log(account.total, derive());
