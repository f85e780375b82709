// Starts the toolkit in Pyodide; the page's worker and the test in Node call it alike.

/** Return a function that calls one of kbnf_page.py with texts, and returns its value. */
export async function start(loadPyodide, archive, options) {
  const python = await loadPyodide(options);
  python.unpackArchive(archive, "zip", { extractDir: "/kbnf" });
  python.runPython('import sys; sys.path.insert(0, "/kbnf")');
  const page = python.pyimport("kbnf_page");
  return (name, ...texts) => JSON.parse(page[name](...texts));
}
