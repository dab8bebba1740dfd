// Starts the Python of a site under node, and runs a file in it beside the files of a lab:
// node probe.mjs RUNTIME FILE [FOLDER]
import { readFileSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, file, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
const named = start => `${runtime}/${readdirSync(runtime).find(each => each.startsWith(start))}`;
const lockFileURL = named("pyodide-lock-");
const lock = JSON.parse(readFileSync(lockFileURL, "utf-8"));
const pyodide = await loadPyodide({
  indexURL: `${runtime}/`,
  lockFileURL,
  stdLibURL: named("python_stdlib-"),
  packages: Object.keys(lock.packages),
});
if (folder) {
  pyodide.FS.mkdir("/lab");
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, "/lab");
  pyodide.FS.chdir("/lab");
}
await pyodide.runPythonAsync(readFileSync(file, "utf-8"));
