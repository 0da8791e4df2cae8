/** What can go wrong at a boundary. */
export const CRASH_FAULTS = ['crash before', 'crash after commit', 'lost reply', 'lease stolen', 'cancel'] as const

/**
 * What goes wrong. `crash before`: the worker dies before the write. `crash after commit`: it dies after the write. `lost reply`: the write
 * is done, and the worker gets no answer. `lease stolen`: the worker is paused for longer than its lease, another one takes over, then the
 * first one goes on. `cancel`: somebody cancels the run just before the write.
 */
export type CrashFault = (typeof CRASH_FAULTS)[number]

const WORDS: Record<CrashFault, string> = {
  'crash before': 'crash before',
  'crash after commit': 'crash after commit of',
  'lost reply': 'lost reply to',
  'lease stolen': 'lease stolen at',
  cancel: 'cancel at',
}

export function inWords(fault: CrashFault, boundary: string): string {
  return `${WORDS[fault]} ${boundary}`
}
