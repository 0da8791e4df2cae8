// Archiver — moves the histories of runs that ended long ago from the store to files, and removes the files of deleted runs.
//   A1. First the file, then one transaction that names it in the run and deletes the rows in it: a crash leaves the rows or the file.
//   A2. The transaction is refused if the run was retried, or another process was faster; its file is then not named by anybody.
//   A3. Before its first file is written, the run's row is marked. So the files of a deleted run are removed, also one that no row names yet.
//       One that is written when they are removed already is removed by its writer, also if that has to ask again.
//   A4. What fails is reported once, until something succeeds. Nothing is deleted meanwhile. Files of a deleted run that cannot be removed hold
//       up nothing else.
import { type Env, outside } from '../model/env.ts'
import { firstIdAt } from '../model/ulid.ts'
import type { ArchivableRun, ArchiveMove, ArchiveStore } from '../store/archive.ts'
import type { SettingsStore } from '../store/cluster/settings.ts'
import type { ArchiveFiles } from './archive-files.ts'
import type { ArchiveRule } from './archive-option.ts'
import { type GatherDeps, gatherSegment } from './gathered-segment.ts'
import { archivedUpTo, fileName, isNameable, prefixOf, withPart } from './log-ref.ts'
import { ofFiles } from './of-files.ts'
import { packSegment } from './segment.ts'

/** How many runs are looked at, or cleared away, before other work has its turn. */
const PAGE_MAX = 100
/** Versions count from 1. */
const NO_VERSION = -1

export interface ArchiverDeps extends GatherDeps, ArchiveRule {
  store: GatherDeps['store'] & { archive: ArchiveStore; cluster?: SettingsStore }
  env: Env
  report: (error: unknown, runId?: string) => void
}

export class Archiver {
  readonly #deps: ArchiverDeps
  readonly #files: ArchiveFiles
  /** The last run that was looked at. Those before it have no rows, or are not to be archived yet. */
  #place = ''
  #isFailing = false
  /** Moves without an answer, by run: a file may have been written of a run that is deleted by now. */
  readonly #unanswered = new Map<string, ArchiveMove>()

  /** The deleted run whose files could not be removed, as was reported. Of an outage that says enough; when they are gone, another one is. */
  #stuck: string | null = null

  constructor(deps: ArchiverDeps) {
    this.#deps = deps
    this.#files = deps.files
  }

  /** Moves what is due of one page of runs; false when there is no more. It ends early when `isWanted` answers false. */
  async page(isWanted: () => boolean): Promise<boolean> {
    const { report } = this.#deps
    try {
      await this.#askAgain()
      const isCleared = await this.#clear()
      const isMoved = await this.#move(isWanted)
      return isCleared || isMoved
    } catch (error) {
      if (!this.#isFailing) report(error)
      this.#isFailing = true
      return false
    }
  }

  async #askAgain(): Promise<void> {
    for (const [id, move] of this.#unanswered) {
      // Its file may not be there, so this must not take effect: it only asks whether there is such a run.
      const outcome = await this.#deps.store.archive.move({ ...move, version: NO_VERSION })
      if (outcome !== 'gone' || (await this.#isRemoved(id))) this.#unanswered.delete(id)
    }
  }

  /** Removes the files of deleted runs. */
  async #clear(): Promise<boolean> {
    const { archive } = this.#deps.store
    const ids = await archive.removed(PAGE_MAX)
    const removed: string[] = []
    for (const id of ids) if (await this.#isRemoved(id)) removed.push(id)
    if (removed.length > 0) await archive.forget(removed)
    // Those whose files stay come first each time: a page of nothing else has its turn again later, with everything.
    return ids.length === PAGE_MAX && removed.length > 0
  }

  async #move(isWanted: () => boolean): Promise<boolean> {
    const { store, env } = this.#deps
    const afterMs = await this.#afterMs()
    // An id contains the time at which its run was created, so a run with a later id has not ended long enough ago.
    const before = firstIdAt(env.wall() - afterMs + 1)
    const ids = await store.archive.candidates({ after: this.#place, before, limit: PAGE_MAX })
    // The ids of Durably are ULIDs. A run that was given an id which cannot be the name of a file stays in the database.
    const nameable = ids.filter(isNameable)
    for (const run of nameable.length === 0 ? [] : await store.archive.begin(nameable, afterMs)) {
      if (!isWanted()) return true
      // Set before the attempt, so that a run that cannot be archived does not hold up those after it.
      this.#place = run.id
      await this.#archive(run, isWanted)
    }
    this.#place = ids.length === PAGE_MAX ? (ids.at(-1) ?? '') : ''
    return ids.length === PAGE_MAX
  }

  /** The setting of all processes, or else the option of this one. */
  async #afterMs(): Promise<number> {
    const { store, afterMs } = this.#deps
    return (await store.cluster?.readSettings())?.value.archiveAfterMs ?? afterMs
  }

  async #archive(run: ArchivableRun, isWanted: () => boolean): Promise<void> {
    const { store, env } = this.#deps
    const { id, version } = run
    for (let { logRef } = run; isWanted(); ) {
      const archived = archivedUpTo(logRef)
      const segment = await gatherSegment(this.#deps, id, archived)
      if (!segment) return
      const { events, lines } = segment
      const { part, bytes } = await outside(env, packSegment(segment, archived))
      const nextRef = withPart(logRef, part)
      const [firstSeq, lastSeq] = [events[0]?.seq ?? 1, events.at(-1)?.seq ?? 0]
      const move = { runId: id, version, logRef, nextRef, firstSeq, lastSeq, lineIds: lines.map((line) => line.id) }
      this.#unanswered.set(id, move)
      await ofFiles(env, `write the history of run ${id}`, () => this.#files.write(fileName(id, part), bytes))
      const outcome = await store.archive.move(move)
      this.#isFailing = false
      if (outcome === 'gone') await this.#remove(id)
      this.#unanswered.delete(id)
      if (outcome !== 'moved') return
      logRef = nextRef
    }
  }

  /** Files that cannot be removed, such as locked ones, hold up neither those of other runs nor what is to be archived. */
  async #isRemoved(runId: string): Promise<boolean> {
    try {
      await this.#remove(runId)
      if (this.#stuck === runId) this.#stuck = null
      return true
    } catch (error) {
      if (!this.#stuck) this.#deps.report(error, runId)
      this.#stuck ??= runId
      return false
    }
  }

  #remove(runId: string): Promise<void> {
    return ofFiles(this.#deps.env, `remove the files of run ${runId}`, () => this.#files.remove(prefixOf(runId)))
  }
}
