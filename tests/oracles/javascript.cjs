// What other programs say of the scopes of JavaScript and TypeScript.
//
// Reads a JSON array of [code, language] pairs from standard input, and writes one of the same length:
// for each snippet null where it does not parse, else {groups, twice}: the places (bytes) of each
// variable, ascending, and whether a name is declared twice where it may not be.
// The argument says whom to ask: `eslint` (eslint-scope, with espree), or `rename` (TypeScript's
// language service: what its own rename of each declared name would change).
"use strict";
const fs = require("fs");

function byteOffsets(code) {
  const at = new Uint32Array(code.length + 1);
  let bytes = 0;
  for (let i = 0; i < code.length; i++) {
    at[i] = bytes;
    const unit = code.charCodeAt(i);
    // a pair of surrogates is four bytes: both halves count two
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  at[code.length] = bytes;
  return at;
}

function unique(starts) {
  return [...new Set(starts)].sort((a, b) => a - b);
}

// A snippet by itself, a function without a name, a method of an object; each with what stands before.
function forms(code) {
  return [[code, 0], [`(${code})`, 1], [`({${code}})`, 2]];
}

function parse(code) {
  const espree = require("espree");
  for (const [text, offset] of forms(code)) {
    for (const sourceType of ["script", "module"]) {
      try {
        const options = { ecmaVersion: "latest", sourceType, range: true, ecmaFeatures: { jsx: true } };
        return [espree.parse(text, options), offset, sourceType];
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
  }
  return null;
}

const VARIABLES = new Set(["Variable", "Parameter", "CatchClause"]);

function askEslint(code) {
  const { analyze } = require("eslint-scope");
  const parsed = parse(code);
  if (parsed === null) return null;
  const [tree, offset, sourceType] = parsed;
  const at = byteOffsets(code);
  const manager = analyze(tree, { ecmaVersion: 2022, sourceType, jsx: true });
  const groups = [];
  for (const scope of manager.scopes) {
    for (const variable of scope.variables) {
      const places = [...variable.identifiers, ...variable.references.map((each) => each.identifier)];
      const starts = unique(places.map((each) => at[each.range[0] - offset]));
      const isVariable = variable.defs.every((each) => VARIABLES.has(each.type));
      if (starts.length && isVariable) groups.push(starts);
    }
  }
  return { groups, twice: false };
}

// One service for each snippet: with all files in one, every question would look at them all.
function openService(name, code) {
  const ts = require("typescript");
  const host = {
    getScriptFileNames: () => [name],
    getScriptVersion: () => "1",
    getScriptSnapshot: (asked) => (asked === name ? ts.ScriptSnapshot.fromString(code) : undefined),
    getCurrentDirectory: () => "/",
    getCompilationSettings: () => ({
      allowJs: true, noLib: true, noResolve: true, types: [], target: ts.ScriptTarget.ESNext,
      jsx: ts.JsxEmit.Preserve, experimentalDecorators: true,
      moduleDetection: ts.ModuleDetectionKind.Force,
    }),
    getDefaultLibFileName: () => "lib.d.ts",
    fileExists: (asked) => asked === name,
    readFile: (asked) => (asked === name ? code : undefined),
  };
  return ts.createLanguageService(host);
}

const TWICE = new Set([2300, 2451, 2481, 2492]); // declared again: an error that does not stop it
const ENDINGS = { javascript: "jsx", typescript: "ts", tsx: "tsx" };

function askRename([code, language]) {
  const ts = require("typescript");
  const name = `/snippet.${ENDINGS[language]}`;
  const chosen = forms(code).find(([text]) => {
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext);
    return source.parseDiagnostics.length === 0;
  });
  if (chosen === undefined) return null;
  const [text, offset] = chosen;
  const service = openService(name, text);
  const source = service.getProgram().getSourceFile(name);
  const at = byteOffsets(code);
  const identifiers = new Set(); // JSDoc's are not among them: comments are never edited
  const collect = (node) => {
    if (ts.isIdentifier(node)) identifiers.add(node.getStart(source));
    ts.forEachChild(node, collect);
  };
  collect(source);
  const seen = new Set();
  const groups = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) && isDeclared(ts, node) && !seen.has(node.getStart(source))) {
      const options = { providePrefixAndSuffixTextForRename: true };
      const found = service.findRenameLocations(name, node.getStart(source), false, false, options);
      const starts = unique((found ?? []).map((each) => each.textSpan.start))
        .filter((start) => identifiers.has(start));
      starts.forEach((start) => seen.add(start));
      if (starts.length) groups.push(starts.map((start) => at[start - offset]));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const twice = source.bindDiagnostics.some((each) => TWICE.has(each.code));
  return { groups, twice };
}

function isDeclared(ts, node) {
  const parent = node.parent;
  return parent.name === node && node.text !== "this" &&
    (ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent));
}

const snippets = JSON.parse(fs.readFileSync(0, "utf8"));
const answers = process.argv[2] === "rename"
  ? snippets.map(askRename)
  : snippets.map(([code]) => askEslint(code));
fs.writeFileSync(1, JSON.stringify(answers));
