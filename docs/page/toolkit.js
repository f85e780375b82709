// Starts the toolkit in Pyodide; the page's worker and the test in Node use it alike.

const PROGRAM = `
import sys
sys.path.insert(0, "/kbnf")
import json
from kbnf_cli.web.answers import answer, begin, read_question

def answered(question):
    if question is None:
        return json.dumps(begin())
    *_, found = answer(read_question(json.loads(question), {"bytes": ("bytes", ())}))
    return json.dumps(found)

answered
`;

/** Return a function that answers questions; without one, it returns what the page offers. */
export async function start(loadPyodide, archive, options) {
  const python = await loadPyodide(options);
  python.unpackArchive(archive, "zip", { extractDir: "/kbnf" });
  const answered = python.runPython(PROGRAM);
  return (question) => JSON.parse(answered(question === null ? undefined : JSON.stringify(question)));
}
