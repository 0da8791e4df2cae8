// SegmentReader — reads segments, and keeps the last ones: a reader of a log takes many pages of one.
import { type Env, outside } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { LruMap } from '../model/lru-map.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { fileName, type Part } from './log-ref.ts'
import { ofFiles } from './of-files.ts'
import { type Segment, unpackSegment } from './segment.ts'

/** Each has half a megabyte of text, more if single events are larger. */
const KEPT_MAX = 16

export class SegmentReader {
  readonly #env: Env
  readonly #files: ArchiveFiles
  /** By the names of their files. */
  readonly #kept = new LruMap<string, Segment>(KEPT_MAX)

  constructor(env: Env, files: ArchiveFiles) {
    this.#env = env
    this.#files = files
  }

  /** Those of these parts that are kept come first. */
  keptFirst(runId: string, parts: readonly Part[]): Part[] {
    const isKept = ({ text }: Part) => this.#kept.get(fileName(runId, text)) !== undefined
    return [...parts.filter(isKept), ...parts.filter((part) => !isKept(part))]
  }

  /** Rejects with `archive_gone` if the file is missing or damaged. */
  async read(runId: string, part: Part): Promise<Segment> {
    const name = fileName(runId, part.text)
    const kept = this.#kept.get(name)
    if (kept) return kept
    const bytes = await ofFiles(this.#env, `read the history of run ${runId}`, () => this.#files.read(name))
    const segment = bytes && (await outside(this.#env, unpackSegment(part, bytes)))
    if (!segment) throw gone(runId, part, `its file ${name} is ${bytes ? 'damaged' : 'gone'}`)
    this.#kept.set(name, segment)
    return segment
  }
}

function gone(runId: string, { first, last }: Part, why: string): DurablyError {
  const firstSequence = last + 1
  const what = last < first ? 'some log lines' : `events ${first} to ${last}`
  const error = new DurablyError(
    'archive_gone',
    `${what} of run ${runId} cannot be read: ${why}; the first event after them is ${firstSequence}. Put the file back, or subscribe after ${last}`,
    { runId },
  )
  return Object.assign(error, { firstSequence })
}
