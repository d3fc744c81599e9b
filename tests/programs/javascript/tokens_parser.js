// Ordinary code: a parser for sums and products.
const assert = require("assert");

function tokenize(text) {
  const tokens = [];
  let index = 0;
  while (index < text.length) {
    const char = text[index];
    if (/\d/.test(char)) {
      let end = index;
      while (end < text.length && /\d/.test(text[end])) end++;
      tokens.push(Number(text.slice(index, end)));
      index = end;
      continue;
    }
    if (char !== " ") tokens.push(char);
    index++;
  }
  return tokens;
}

function evaluate() {
  const tokens = tokenize("2 * (3 + 4) - 10 / 5");
  let position = 0;
  const peek = () => tokens[position];
  const next = () => tokens[position++];
  const factor = () => {
    const token = next();
    if (token !== "(") return token;
    const value = sum();
    next();
    return value;
  };
  const product = () => {
    let value = factor();
    while (peek() === "*" || peek() === "/") {
      const operator = next();
      const right = factor();
      value = operator === "*" ? value * right : value / right;
    }
    return value;
  };
  const sum = () => {
    let value = product();
    while (peek() === "+" || peek() === "-") {
      const sign = next() === "+" ? 1 : -1;
      value += sign * product();
    }
    return value;
  };
  const result = sum();
  return result;
}

assert.deepStrictEqual(tokenize("1+ 23"), [1, "+", 23]);
assert.strictEqual(evaluate(), 12);
console.log(tokenize("1+ 23"), evaluate());
