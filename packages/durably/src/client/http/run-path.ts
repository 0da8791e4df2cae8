import { DurablyError } from '../../model/errors.ts'

/** The path of a run, or of something that belongs to it. */
export function runPath(id: string, ...rest: readonly string[]): string {
  if (!isSegment(id)) throw new DurablyError('run_not_found', `there is no run ${JSON.stringify(id)}`, { runId: id })
  const wrong = rest.find((name) => !isSegment(name))
  if (wrong !== undefined) throw new DurablyError('invalid_name', `${JSON.stringify(wrong)} cannot be part of a URL; use another name`)
  return `/runs/${[id, ...rest].map(encodeURIComponent).join('/')}`
}

/** A URL resolves dot segments, also percent-encoded ones, and must be well-formed Unicode. */
export function isSegment(text: string): boolean {
  return typeof text === 'string' && !['', '.', '..'].includes(text) && text.isWellFormed()
}
