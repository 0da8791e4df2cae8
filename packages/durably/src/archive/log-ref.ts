// LogRef — the files that hold the beginning of a run's history, as the run's row names them: `1-80-2f4… 81-95-1b7…`. A part with log lines
// also says when the first and the last of them were written, in the digits of a ULID: a page of lines is found without reading them all.
import { DurablyError } from '../model/errors.ts'
import { isUlid } from '../model/is-ulid.ts'

/** One file. It has the events from `first` to `last`, none if `last` is smaller. */
export interface Part {
  first: number
  last: number
  /** A hash of its content. */
  hash: string
  /** Ids of its log lines are between these; null if it has none. */
  lines: { from: string; to: string } | null
  /** As it stands in the run's row. */
  text: string
}

const PART = /^(\d{1,16})-(\d{1,16})-([0-9a-z]{1,16})(?:-([0-9A-Z]{10})-([0-9A-Z]{10}))?$/

const TIME_DIGITS = 10

/** Names become paths and keys, so nothing else is let into them. */
const RUN_ID = /^[\w-]{1,64}$/

/** Runs of one time are side by side, and no folder has too many entries: five digits of a ULID are nine hours. */
const SHARD_DIGITS = 5

export function isNameable(runId: string): boolean {
  return RUN_ID.test(runId)
}

export function partsOf(logRef: string): Part[] {
  return logRef.split(' ').flatMap((text) => {
    const [, first, last, hash = '', from, to = ''] = PART.exec(text) ?? []
    if (first === undefined) return []
    // After every id of its time.
    const lines = from === undefined ? null : { from, to: `${to}~` }
    return [{ first: Number(first), last: Number(last), hash, lines, text }]
  })
}

/** `lines`: by id. */
export function partText(first: number, last: number, hash: string, lines: readonly { id: string }[]): string {
  const [from, to] = [lines[0]?.id, lines.at(-1)?.id]
  if (from === undefined || to === undefined) return `${first}-${last}-${hash}`
  // An id that is no ULID tells no time.
  const isTimed = isUlid(from) && isUlid(to)
  return `${first}-${last}-${hash}-${isTimed ? from.slice(0, TIME_DIGITS) : '0'.repeat(TIME_DIGITS)}-${isTimed ? to.slice(0, TIME_DIGITS) : 'Z'.repeat(TIME_DIGITS)}`
}

/** The last event that is in a file; 0 if none is. */
export function archivedUpTo(logRef: string | null): number {
  return partsOf(logRef ?? '').at(-1)?.last ?? 0
}

export function withPart(logRef: string, part: string): string {
  return logRef === '' ? part : `${logRef} ${part}`
}

/** What the names of all files of a run begin with. */
export function prefixOf(runId: string): string {
  if (!isNameable(runId)) throw new DurablyError('invalid_name', `no file can be named after run ${JSON.stringify(runId)}`, { runId })
  return `${runId.slice(0, SHARD_DIGITS)}/${runId}/`
}

export function fileName(runId: string, part: string): string {
  return `${prefixOf(runId)}${part}.ndjson.gz`
}
