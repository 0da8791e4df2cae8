// The pill and the strip above the messages: what the session is doing.
import { useNow } from '../hooks/use-now.ts'
import type { Phase } from '../state/phase.ts'
import type { ShownTurn } from '../state/shown-turn.ts'
import { count, duration } from './words.ts'

const PILLS: Readonly<Record<Phase, string>> = {
  queued: 'Waiting for a worker',
  working: 'Working',
  restarting: 'Worker restarts',
  paused: 'Waiting to retry',
  approval: 'Waiting for approval',
  stopping: 'Stopping',
  completed: 'Ready',
  cancelled: 'Ready',
  failed: 'Failed',
}

interface StatusPillProps {
  phase: Phase
  wasRestarted: boolean
  isReconnecting: boolean
}

/** The connection is a remark beside the state, and never the state. */
export function StatusPill({ phase, wasRestarted, isReconnecting }: StatusPillProps) {
  const text = phase === 'working' && wasRestarted ? 'Worker restarted, continuing' : PILLS[phase]
  return (
    <span className="pills" role="status">
      <span className={`pill ${phase}`}>{text}</span>
      {isReconnecting && <span className="pill reconnecting">Reconnecting…</span>}
    </span>
  )
}

export function StatusStrip({ turns, active }: { turns: readonly ShownTurn[]; active: ShownTurn | undefined }) {
  const now = useNow(active !== undefined)
  const waiting = turns.filter(({ phase, runId }) => phase === 'queued' && runId !== active?.runId).length
  const last = turns.findLast(({ log }) => log?.endedAt)
  const parts = [count(turns.length, 'turn')]
  const began = active?.log?.attempts[0]?.startedAt
  if (began) parts.push(`running for ${Math.max(0, Math.floor((now - Date.parse(began)) / 1000))} s`)
  if (waiting > 0) parts.push(`${waiting} waiting`)
  if (!active && last?.log) parts.push(`last run ${lengthOf(last.log)}`)
  return <p className="strip hint">{parts.join(' · ')}</p>
}

function lengthOf({ attempts: [first], endedAt }: NonNullable<ShownTurn['log']>): string {
  return first && endedAt ? duration(Date.parse(endedAt) - Date.parse(first.startedAt)) : 'did not begin'
}
