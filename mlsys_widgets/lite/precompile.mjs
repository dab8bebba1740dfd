// Compiles the modules of archives with the Python of a site:
// node precompile.mjs PYODIDE FOLDER writes NAME.compiled.zip beside each NAME.zip.
import { pathToFileURL } from 'node:url';

const [home, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${home}/pyodide.mjs`));
const pyodide = await loadPyodide({ indexURL: `${home}/` });
pyodide.FS.mkdir('/archives');
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, '/archives');
await pyodide.runPythonAsync(`
import importlib.util, pathlib, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

for place in sorted(pathlib.Path('/archives').glob('*.zip')):
    with zipfile.ZipFile(place) as archive:
        with zipfile.ZipFile(place.with_suffix('.compiled.zip'), 'w') as made:
            for name in archive.namelist():
                if not name.endswith('.py'):
                    continue
                source = archive.read(name)
                try:
                    code = compile(source, name, 'exec', dont_inherit=True)
                except SyntaxError:
                    continue  # a template, or for another Python
                # Unchecked: nobody changes a module of a site, so nobody has to look whether.
                content = _code_to_hash_pyc(code, importlib.util.source_hash(source), checked=False)
                made.writestr(zipfile.ZipInfo(name + 'c'), content)
`);
