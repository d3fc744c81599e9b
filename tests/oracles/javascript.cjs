// What other programs say of the scopes of JavaScript and TypeScript.
//
// Reads a JSON array of [code, language] pairs from standard input, and writes one of the same length:
// for each snippet null where it does not parse, else the places (bytes) of each variable, ascending.
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

function parse(code) {
  const espree = require("espree");
  const forms = [[code, 0], [`(${code})`, 1], [`({${code}})`, 2]];
  for (const [text, offset] of forms) {
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
      if (starts.length) groups.push(starts);
    }
  }
  return groups;
}

function openService(files) {
  const ts = require("typescript");
  const host = {
    getScriptFileNames: () => [...files.keys()],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) =>
      files.has(name) ? ts.ScriptSnapshot.fromString(files.get(name)) : undefined,
    getCurrentDirectory: () => "/",
    getCompilationSettings: () => ({
      allowJs: true, noLib: true, noResolve: true, types: [], target: ts.ScriptTarget.ESNext,
      jsx: ts.JsxEmit.Preserve, experimentalDecorators: true, moduleDetection: "force",
    }),
    getDefaultLibFileName: () => "lib.d.ts",
    fileExists: (name) => files.has(name),
    readFile: (name) => files.get(name),
  };
  return ts.createLanguageService(host);
}

const ENDINGS = { javascript: "jsx", typescript: "ts", tsx: "tsx" };

function askRename(snippets) {
  const ts = require("typescript");
  const names = snippets.map(([, language], i) => `/${i}.${ENDINGS[language]}`);
  const files = new Map(names.map((name, i) => [name, snippets[i][0]]));
  const service = openService(files);
  const program = service.getProgram();
  return names.map((name) => {
    const source = program.getSourceFile(name);
    if (source.parseDiagnostics.length) return null;
    const at = byteOffsets(source.text);
    const seen = new Set();
    const groups = [];
    const visit = (node) => {
      if (ts.isIdentifier(node) && isDeclared(ts, node) && !seen.has(node.getStart())) {
        const options = { providePrefixAndSuffixTextForRename: true };
        const found = service.findRenameLocations(name, node.getStart(), false, false, options);
        const starts = unique((found ?? []).map((each) => each.textSpan.start));
        starts.forEach((start) => seen.add(start));
        if (starts.length) groups.push(starts.map((start) => at[start]));
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return groups;
  });
}

function isDeclared(ts, node) {
  const parent = node.parent;
  return parent.name === node &&
    (ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent));
}

const snippets = JSON.parse(fs.readFileSync(0, "utf8"));
const answers = process.argv[2] === "rename"
  ? askRename(snippets)
  : snippets.map(([code]) => askEslint(code));
fs.writeFileSync(1, JSON.stringify(answers));
