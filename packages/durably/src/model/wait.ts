// Wait — what a parked run waits for. The row of the run holds them all; the run is claimed again when the first of them is due.
import type { RunRow } from './run.ts'

export interface Wait {
  /** The name of the call: a sleep, a step that is tried again, a signal, a child. */
  name: string
  /** `limit`: the time limit of a wait for a signal that an earlier attempt began. It keeps its end, and does not wake the run. */
  kind: 'sleep' | 'retry' | 'signal' | 'limit' | 'child'
  /** By the store's clock; `null` for a signal that is waited for without an end. */
  dueAt: number | null
}

export { NEVER_MS } from './duration.ts'

export function encodeWaits(waits: readonly Wait[]): string {
  return JSON.stringify(waits)
}

export function decodeWaits(encoded: string | null): Wait[] {
  return encoded === null ? [] : (JSON.parse(encoded) as Wait[])
}

export function awaitsSignal(encoded: string | null): boolean {
  return decodeWaits(encoded).some(({ kind }) => kind === 'signal' || kind === 'child')
}

export function wakesByChild({ status, waitingFor }: RunRow): boolean {
  return status === 'pending' && decodeWaits(waitingFor).some(({ kind }) => kind === 'child')
}

/** Whether the run is parked and waits for this signal, perhaps among others. */
export function wakesBySignal({ status, waitingFor }: RunRow, name: string): boolean {
  return status === 'pending' && decodeWaits(waitingFor).some((wait) => wait.kind === 'signal' && wait.name === name)
}
