#!/usr/bin/env node
// Starts the binary that came with the package of this platform. Nothing is loaded, and nothing is written.
"use strict";

const { spawn } = require("node:child_process");

const REPORT = "https://www.npmjs.com/package/lacon";

function fail(message) {
  console.error(`lacon: ${message}`);
  process.exit(1);
}

// Node itself is linked with the C library of the system.
function isMusl() {
  if (process.platform !== "linux") return false;
  const report = process.report && process.report.getReport();
  return Boolean(report) && !report.header.glibcVersionRuntime;
}

function binary() {
  const known = Object.keys(require("../package.json").optionalDependencies || {});
  const base = `lacon-${process.platform}-${process.arch}`;
  // The static binary runs on every Linux, so it also stands in for the other one.
  const wanted = isMusl() ? [`${base}-musl`] : [base, `${base}-musl`];
  const program = process.platform === "win32" ? "lacon.exe" : "lacon";
  for (const name of wanted.filter((name) => known.includes(name))) {
    try {
      return require.resolve(`${name}/bin/${program}`);
    } catch {
      // Looked for under the next name.
    }
  }
  const named = wanted.find((name) => known.includes(name));
  if (!named) {
    const list = known.map((name) => name.replace("lacon-", "")).join(", ");
    fail(`there is no binary for ${process.platform} on ${process.arch}${isMusl() ? " with musl" : ""}: ` +
      `there are ${list}. Build it from source instead (${REPORT}).`);
  }
  fail(`the package \`${named}\` is missing, or has no binary: npm left out optional packages, or the lock file is of another ` +
    "platform. Install again with `npm install lacon --include=optional`.");
}

const program = binary();
const given = process.argv.slice(2);

// Newer versions of Node can become another program, which leaves nothing in between.
if (typeof process.execve === "function" && process.platform !== "win32") {
  try {
    process.execve(program, [program, ...given], process.env);
  } catch {
    // Started as a child instead.
  }
}

const child = spawn(program, given, { stdio: "inherit", windowsHide: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  const remedy = error.code === "EACCES" ? ` Allow it to be run: chmod +x ${program}` : "";
  fail(`\`${program}\` cannot be started: ${error.message}.${remedy}`);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
