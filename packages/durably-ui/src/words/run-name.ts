import type { Run } from '@coji/durably/client'

/** The end of an id, which tells runs of one day apart; their beginnings are the time. */
export function shortId(id: string): string {
  return id.slice(-8)
}

/** One run among others, where its whole id would be too long to read. */
export function runName({ id, jobName }: Pick<Run, 'id' | 'jobName'>): string {
  return `run ${shortId(id)} of ${jobName}`
}
