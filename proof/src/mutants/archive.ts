// Mutants without a guard of the archive.
import type { Mutant } from './mutant.ts'

const ARCHIVER = 'archive/archiver.ts'
const STORE = 'store/memory/archive.ts'
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
const WRITE = '      await ofFiles(env, `write the history of run ${id}`, () => this.#files.write(fileName(id, part), bytes))\n'
const MOVE = '      const outcome = await store.archive.move(move)\n'

export const ARCHIVE_MUTANTS: Mutant[] = [
  {
    name: 'rows-before-file',
    guard: 'rows are deleted when their file is there (A1)',
    file: ARCHIVER,
    find: `${WRITE}${MOVE}`,
    replace: `${MOVE}${WRITE}`,
  },
  {
    name: 'file-not-named',
    guard: 'the transaction that deletes the rows names their file (A1)',
    file: STORE,
    find: 'row.logRef = nextRef',
    replace: 'row.logRef = logRef',
  },
  {
    name: 'archived-after-a-retry',
    guard: 'a history is not moved if its run was changed meanwhile (A2)',
    file: STORE,
    find: 'row.logRef !== logRef || row.version !== version',
    replace: 'row.logRef !== logRef',
  },
  {
    name: 'archived-too-soon',
    guard: 'only the history of a run that ended long enough ago is moved',
    file: STORE,
    find: 'finishedAt === null || finishedAt > endMs',
    replace: 'finishedAt === null',
  },
  {
    name: 'files-stay',
    guard: 'the files of a deleted run are removed',
    file: ARCHIVER,
    find: 'if (await this.#isRemoved(id)) removed.push(id)',
    replace: 'removed.push(id)',
  },
  {
    name: 'forgotten-before-removed',
    guard: 'a deleted run is forgotten when its files are gone',
    file: ARCHIVER,
    find: 'for (const id of ids) if (await this.#isRemoved(id)) removed.push(id)\n    if (removed.length > 0) await archive.forget(removed)',
    replace: 'if (ids.length > 0) await archive.forget(ids)\n    for (const id of ids) if (await this.#isRemoved(id)) removed.push(id)',
  },
  {
    name: 'not-marked',
    guard: 'a run is marked before its first file is written (A3)',
    file: STORE,
    find: "row.logRef ??= ''\n  return { id: row.id, version: row.version, logRef: row.logRef }",
    replace: "return { id: row.id, version: row.version, logRef: row.logRef ?? '' }",
    also: [{ file: STORE, find: 'if (row.logRef !== logRef', replace: "if ((row.logRef ?? '') !== logRef" }],
  },
]
