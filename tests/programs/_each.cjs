// Runs each program of a JSON array of [code, language] pairs: exit code, output and error of each.
"use strict";
const fs = require("fs");
const util = require("util");
const vm = require("vm");

function transpile(code) {
  const ts = require("typescript");
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS };
  return ts.transpileModule(code, { compilerOptions: options }).outputText;
}

function run([code, language]) {
  const lines = [];
  const log = (...values) => lines.push(util.format(...values));
  const own = Object.assign(Object.create(console), { log });
  try {
    const text = language === "typescript" ? transpile(code) : code;
    const names = ["require", "module", "exports", "console"];
    const module = { exports: {} };
    vm.compileFunction(text, names).call(module.exports, require, module, module.exports, own);
    return [0, lines.join("\n"), ""];
  } catch (error) {
    return [1, lines.join("\n"), String(error && error.stack)];
  }
}

const programs = JSON.parse(fs.readFileSync(0, "utf8"));
fs.writeFileSync(1, JSON.stringify(programs.map(run)));
