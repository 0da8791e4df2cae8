// What can befall the workers and what they stand on. Each can be left out, to see which of them breaks a promise.
export const FAULTS = ['kill', 'stop', 'freeze', 'skew', 'jump', 'fan-out', 'line', 'server'] as const
export type FaultName = (typeof FAULTS)[number]

export type Faults = ReadonlySet<FaultName>

export const FAULTS_IN_WORDS: Record<FaultName, string> = {
  kill: 'SIGKILL',
  stop: 'SIGTERM: the worker gives its runs back',
  freeze: 'SIGSTOP, up to three leases long',
  skew: 'each process has a wrong clock: by seconds on SQLite, by hours on Postgres',
  jump: 'the clock of each process jumps',
  'fan-out': 'now and then a run with a hundred and fifty children',
  line: 'connections are cut, slow, and swallow replies (Postgres)',
  server: 'the server crashes, backends are terminated (Postgres)',
}

/** A worker may lose a lease because of such a fault, but not because it only has much to do. */
export function isStruck(faults: Faults): boolean {
  return [...faults].some((fault) => fault !== 'fan-out')
}
