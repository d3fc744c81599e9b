// Parameters that are properties at once, and ordinary ones beside them.
import assert from "assert";

class Account {
  static made = 0;
  constructor(
    public readonly owner: string,
    private total = 0,
    protected readonly limit: number = 10,
    step?: number,
  ) {
    const made = Account.made + 1;
    const first = step ?? 1;
    this.total += first;
    total = 99;
    Account.made = made;
  }
  get balance(): number {
    const total = this.total;
    const limit = this.limit;
    return Math.min(total, limit);
  }
  add(total: number, ...more: number[]): this {
    let sum: number = total;
    for (const value of more) sum += value;
    this.total += sum;
    return this;
  }
}

class Saving extends Account {
  constructor(owner: string, private rate: number) {
    super(owner, 1);
    const rateText = `${rate}/${this.rate}`;
    this.text = rateText;
  }
  text: string;
}

function use(): (string | number)[] {
  const account = new Account("o", 2);
  const saving = new Saving("s", 3);
  const result = [account.add(1, 2).balance, saving.text, saving.balance, Account.made];
  return result;
}

assert.deepStrictEqual(use(), [6, "3/3", 2, 2]);
console.log(new Account("x").owner, Account.made);
