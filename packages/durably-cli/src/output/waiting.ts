import type { WaitingFor } from '@coji/durably'
import { relative } from './time.ts'

/** What a run waits for, in a few words. */
export function waitingInWords(waitingFor: WaitingFor, nowMs: number): string {
  switch (waitingFor.kind) {
    case 'delay':
      return `starts ${relative(waitingFor.until, nowMs)}`
    case 'retry':
      return `next attempt ${relative(waitingFor.until, nowMs)}`
    case 'sleep':
      return `sleeps, goes on ${relative(waitingFor.until, nowMs)}`
    case 'step retry':
      return `step ${waitingFor.step} again ${relative(waitingFor.until, nowMs)}`
    case 'signal':
      return `waits for signal ${waitingFor.name}${waitingFor.until === null ? '' : `, until ${relative(waitingFor.until, nowMs)}`}`
    case 'decision':
      return `waits for a decision about ${waitingFor.step}`
    case 'child':
      return `waits for the run of ${waitingFor.step}`
    case 'key':
      return 'waits for its concurrency key'
    case 'worker':
      return 'waits for a worker'
    case 'slot':
      return 'due'
  }
}
