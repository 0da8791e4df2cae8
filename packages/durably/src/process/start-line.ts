import type { Engine } from '../engine.ts'
import type { PlacedDialect } from '../store/placed-dialect.ts'

export function startLine(
  { dialect, jobs, concurrency }: Pick<Engine, 'dialect' | 'jobs' | 'concurrency'>,
  handlesSignals: boolean,
): string {
  const place = !dialect ? 'its own store' : 'place' in dialect ? (dialect as PlacedDialect).place : 'its database'
  const end = handlesSignals ? '; Ctrl-C gives runs back' : ''
  return `durably: working on ${place}, ${jobs.size} ${jobs.size === 1 ? 'job' : 'jobs'}, ${concurrency} at once${end}`
}
