import { DurablyError } from '../../model/errors.ts'

/** Where the server has a run, and what belongs to it. */
export function runPath(id: string, ...rest: readonly string[]): string {
  if (!isSegment(id)) throw new DurablyError('run_not_found', `there is no run ${JSON.stringify(id)}`, { runId: id })
  const wrong = rest.find((name) => !isSegment(name))
  if (wrong !== undefined)
    throw new DurablyError('invalid_name', `${JSON.stringify(wrong)} cannot be named in the path of a URL; call it something else`)
  return `/runs/${[id, ...rest].map(encodeURIComponent).join('/')}`
}

/** Dots mean folders, however they are written, and a URL is well-formed Unicode. */
function isSegment(text: string): boolean {
  return !['', '.', '..'].includes(text) && text.isWellFormed()
}
