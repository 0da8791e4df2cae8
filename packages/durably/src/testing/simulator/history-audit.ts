// HistoryAudit — stands before the archive of a simulated world and checks that no history changes when it moves to files.
//   I69. Only histories of runs that ended long enough ago are moved, and not if the run was changed meanwhile. Before and after each move, and
//        whenever files are removed, rows and files together are the same events and log lines. In the end deleted runs have no files, unless the
//        one who wrote a file after the deletion died then.
import type { ArchiveFiles } from '../../archive/archive-files.ts'
import { isTerminal } from '../../model/run.ts'
import type { ArchivableRun, ArchiveMove, ArchiveStore, MoveOutcome } from '../../store/archive.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import type { MemoryFiles } from '../memory-files.ts'
import { ExclusiveTurn } from './exclusive-turn.ts'
import { withVerbs } from './with-verbs.ts'

interface HistoryAuditDeps {
  files: MemoryFiles
  /** Reads rows and files, without faults. */
  readable: (store: Store) => Store
  storeMs: () => number
}

export class HistoryAudit {
  readonly violations: Violation[] = []
  /** Files that took the place of rows. */
  moved = 0
  readonly #deps: HistoryAuditDeps
  readonly #turn = new ExclusiveTurn()
  /** Files of runs that were deleted before, with the process that wrote them. */
  readonly #writtenLate = new Map<string, { alive: boolean }>()
  #reads!: Store

  constructor(deps: HistoryAuditDeps) {
    this.#deps = deps
  }

  over(store: Store): Store {
    const { runs, archive, logs, transact } = store
    if (!archive) return store
    const turn = this.#turn
    this.#reads = this.#deps.readable(store)
    return {
      ...store,
      // Whatever can change a history of a run that has ended.
      runs: withVerbs(runs, {
        retry: (...args) => turn.beside(() => runs.retry(...args)),
        delete: (...args) => turn.beside(() => runs.delete(...args)),
        purge: (request) => turn.beside(() => runs.purge(request)),
        claim: (request) => turn.beside(() => runs.claim(request)),
        apply: (writes) => turn.beside(() => runs.apply(writes)),
      }),
      logs: withVerbs(logs, { append: (lines) => turn.beside(() => logs.append(lines)) }),
      ...(transact && { transact: (body) => turn.beside(() => transact(body)) }),
      archive: withVerbs(archive, {
        begin: (ids, olderThanMs) => turn.alone(() => this.#begin(archive, ids, olderThanMs)),
        move: (move) => turn.alone(() => this.#move(archive, move)),
      }),
    }
  }

  /** The files as the archiver of a process sees them. */
  filesOf(process: { alive: boolean }): ArchiveFiles {
    const { files } = this.#deps
    return {
      write: async (name, bytes) => {
        await files.write(name, bytes)
        if (!(await this.#reads.runs.get(runIdOf(name)))) this.#writtenLate.set(name, process)
      },
      read: (name) => files.read(name),
      remove: async (prefix) => {
        await files.remove(prefix)
        await this.#turn.alone(() => this.#historyOf(runIdOf(prefix), 'when files were removed'))
      },
    }
  }

  hasFilesOf(runIds: { has(runId: string): boolean }): boolean {
    for (const name of this.#deps.files.files.keys()) if (runIds.has(runIdOf(name))) return true
    return false
  }

  /** When all runs have ended and every worker had the time to tidy up. */
  judge(runs: readonly { id: string }[]): void {
    const known = new Set(runs.map(({ id }) => id))
    for (const name of this.#deps.files.files.keys()) {
      // Only its writer knows of a file that was written after all others were removed.
      const isOrphan = this.#writtenLate.get(name)?.alive === false
      if (!known.has(runIdOf(name)) && !isOrphan) this.#broken(runIdOf(name), `was deleted, and its file ${name} is left`)
    }
  }

  async #begin(archive: ArchiveStore, ids: readonly string[], olderThanMs: number): Promise<ArchivableRun[]> {
    const begun = await archive.begin(ids, olderThanMs)
    const nowMs = this.#deps.storeMs()
    for (const { id } of begun) {
      const run = await this.#reads.runs.get(id)
      if (!run || !isTerminal(run.status)) this.#broken(id, `is to be archived, but is ${run?.status ?? 'gone'}`)
      else if ((run.finishedAt ?? nowMs) > nowMs - olderThanMs) this.#broken(id, 'is to be archived, but ended not long enough ago')
    }
    return begun
  }

  async #move(archive: ArchiveStore, move: ArchiveMove): Promise<MoveOutcome> {
    const { runId } = move
    const run = await this.#reads.runs.get(runId)
    const before = await this.#historyOf(runId, 'before a move')
    const outcome = await archive.move(move)
    if (outcome !== 'moved' || !run || run.logRef === move.nextRef) return outcome
    this.moved++
    if (run.version !== move.version || !isTerminal(run.status))
      this.#broken(runId, `was moved to a file, but is ${run.status} and was changed`)
    if ((await this.#historyOf(runId, 'after a move')) !== before) this.#broken(runId, 'has another history after it was moved to a file')
    return outcome
  }

  /** All events and log lines of a run, as one text; null if there is no such run or its history cannot be read. */
  async #historyOf(runId: string, when: string): Promise<string | null> {
    const { runs, events, logs } = this.#reads
    if (!(await runs.get(runId))) return null
    try {
      return JSON.stringify([await events.list(runId), await logs.list(runId)])
    } catch (error) {
      this.#broken(runId, `cannot be read ${when}: ${(error as Error).message}`)
      return null
    }
  }

  #broken(runId: string, what: string): void {
    this.violations.push({ invariant: 'I69', runId, what })
  }
}

/** Of the name of a file, or of what the names of all files of a run begin with. */
function runIdOf(name: string): string {
  return name.split('/')[1] ?? ''
}
