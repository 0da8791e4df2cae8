// What many runs wait for, by their rows: the same as `waitingFor` of a run that is read alone.
import type { WaitingFor } from '@coji/durably'

export interface WaitColumns {
  run_at: number | string
  attempts: number
  deadline_at: number | string | null
  waiting_for: string | null
  effects: string | null
}

interface Wait {
  name: string
  kind: 'sleep' | 'retry' | 'signal' | 'limit' | 'child'
  dueAt: number | null
}

const DECISION = 'decision/'

/** Of a pending run that is not due. */
export function kindsOf({ run_at, attempts, deadline_at, waiting_for, effects }: WaitColumns): WaitingFor['kind'][] {
  const runAt = Number(run_at)
  const inDoubt = (JSON.parse(effects ?? '[]') as { name: string; generation: number }[]).map(
    ({ name, generation }) => `${DECISION}${generation}/${name}`,
  )
  const waits = (JSON.parse(waiting_for ?? '[]') as Wait[]).filter(
    ({ kind, name, dueAt }) =>
      kind !== 'limit' && (dueAt === null || dueAt >= runAt) && (!name.startsWith(DECISION) || inDoubt.includes(name)),
  )
  const isParked = waits.some(
    ({ kind, dueAt }) => kind === 'signal' || kind === 'child' || dueAt === runAt || Number(deadline_at) === runAt,
  )
  if (!isParked) return [attempts > 0 ? 'retry' : 'delay']
  return waits.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0)).map(kindOf)
}

function kindOf({ kind, name }: Wait): WaitingFor['kind'] {
  if (kind === 'signal') return name.startsWith(DECISION) ? 'decision' : 'signal'
  return kind === 'retry' ? 'step retry' : kind === 'child' ? 'child' : 'sleep'
}
