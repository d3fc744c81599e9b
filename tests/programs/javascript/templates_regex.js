// Code in templates, tags, regular expressions with names of groups.
const assert = require("assert");

function tag(strings, ...values) {
  let text = "";
  strings.forEach((part, index) => { text += part + (index in values ? `<${values[index]}>` : ""); });
  return text;
}

function render() {
  const name = "n";
  const items = [1, 2];
  const body = `${items.map((item) => `${name}:${item + `${items.length}`}`).join(`,`)}`;
  const tagged = tag`a ${name} b ${body.length} name`;
  return [body, tagged, String.raw`\n${name}`];
}

function matches() {
  const text = "2024-05-06";
  const pattern = /(?<year>\d+)-(?<month>\d+)/u;
  const { groups: { year, month: found } } = pattern.exec(text);
  const month = text.replace(/(?<month>-)/g, "$<month>/");
  const value = text / 2 / 3;
  return [year, found, month, Number.isNaN(value)];
}

assert.deepStrictEqual(render(), ["n:12,n:22", "a <n> b <9> name", "\\nn"]);
assert.deepStrictEqual(matches(), ["2024", "05", "2024-/05-/06", true]);
console.log(render(), matches());
