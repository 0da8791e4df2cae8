// What each phase is called, how it looks and what it means, in the order in which people ask for them.
import type { Phase } from '@coji/durably/client'

export type Tone = 'idle' | 'active' | 'good' | 'bad' | 'warn'

interface PhaseWords {
  readonly label: string
  readonly tone: Tone
  readonly meaning: string
}

export const PHASE_WORDS: { readonly [phase in Phase]: PhaseWords } = {
  running: { label: 'Running', tone: 'active', meaning: 'A worker executes it.' },
  pending: { label: 'Pending', tone: 'idle', meaning: 'It is due and waits for a worker.' },
  assigned: { label: 'Assigned', tone: 'idle', meaning: 'A leader has chosen its worker, which has not started it yet.' },
  orphaned: { label: 'Orphaned', tone: 'warn', meaning: 'The worker that was chosen for it is gone; a leader will choose another one.' },
  waiting: { label: 'Waiting', tone: 'warn', meaning: 'It waits for a signal, a decision or another run.' },
  sleeping: { label: 'Sleeping', tone: 'idle', meaning: 'It is due later: after a delay, a sleep, or before the next attempt.' },
  cancelling: { label: 'Cancelling', tone: 'warn', meaning: 'It was asked to stop and has not yet.' },
  stale: { label: 'Stale', tone: 'warn', meaning: 'Its worker is silent; another one will take it over.' },
  confirming: { label: 'Confirming', tone: 'warn', meaning: 'Its worker is silent and may still come back.' },
  failed: { label: 'Failed', tone: 'bad', meaning: 'It ended with an error.' },
  completed: { label: 'Completed', tone: 'good', meaning: 'It ended as it should.' },
  cancelled: { label: 'Cancelled', tone: 'idle', meaning: 'It was cancelled.' },
}

export const PHASES = Object.keys(PHASE_WORDS) as Phase[]

export function isPhase(text: string): text is Phase {
  return Object.hasOwn(PHASE_WORDS, text)
}
