// FaultPlan — what goes wrong in one simulated world, decided by its seed.
// Each seed has its own mix: some faults often, some never, so that rare combinations are reached too.
import type { NewRun } from '../../store/runs.ts'
import { chance, oneOf, pick } from './chance.ts'
import { hasInterruptedFamilies, isWorldOfCrowds, isWorldOfFamilies } from './world-kinds.ts'

/**
 * `stall`: the process is paused before it gets the reply, and wakes when its lease may be over. `sleep`: its machine sleeps for that long,
 * so its monotonic clock stops as well.
 */
export type CallFault = 'crash before' | 'crash after' | 'lose request' | 'lose reply' | 'slow' | 'stall' | 'sleep'

/** Decides what goes wrong with a store call. */
export interface CallFaults {
  ofCall(call: string, verb: string, args: readonly unknown[]): CallFault | Intrusion | null
  ofTransaction?(call: string): Cut | null
}

/** A transaction that ends at one of its statements: its connection is lost, or its process dies. */
export interface Cut {
  statement: number
  kills: boolean
}

/** A fault that a test makes itself, at the moment when the store carries out a request. */
export interface Intrusion {
  before?(): Promise<unknown>
  after?(): void
}

export type TimedFault =
  | 'pause'
  | 'kill'
  | 'clock jump'
  | 'cancel'
  | 'retry'
  | 'stop'
  | 'purge'
  | 'delete'
  | 'clear and retry'
  | 'cancel and clear'
  | 'suspend'
  | 'suspend all'

const CALL_FAULTS = ['crash before', 'crash after', 'lose request', 'lose reply', 'slow', 'stall', 'sleep'] as const
const TIMED_FAULTS = ['pause', 'kill', 'clock jump', 'cancel', 'retry', 'stop', 'purge', 'delete'] as const
/** Only in worlds of families and of crowds. */
const FAMILY_FAULTS = ['clear and retry', 'cancel and clear'] as const
const FAMILY_FAULTS_MAX = 8
const CROWD_FAULTS_MAX = 2
/** Only in worlds whose machines sleep: one machine sleeps, or the one that all workers share. */
const SUSPENDS = ['suspend', 'suspend', 'suspend all'] as const
const SUSPENDS_MAX = 6
const SUSPENDS_SHARE = 0.35
/** Transactions are rare, and there are not many statements in them. */
const CUT_SHARE = 0.25
const CUT_AT_MAX = 9
/** Faults of claims and of groups of writes find more, and both are rare among polls and single writes: so they are more likely. */
const CLAIM_WEIGHT = 4
const GROUP_WEIGHT = 3
/** The same for the few calls that archive something. */
const ARCHIVE_WEIGHT = 8
/** The same, in worlds whose families are interrupted, for a run that triggers others. */
const CHILD_WEIGHT = 6
const TIMED_MAX = 14
const TIMED_SHARE = 0.6

export interface Timed {
  name: string
  fault: TimedFault
  atMs: number
}

export interface FaultPlanOptions {
  seed: number
  faultMs: number
  /** Names of faults that are left out, while a failing seed is shrunk. */
  without: ReadonlySet<string>
  faultFree: boolean
}

export class FaultPlan implements CallFaults {
  readonly #options: FaultPlanOptions
  readonly #rates: ReadonlyMap<CallFault, number>
  /** The faults that really happened, in order. */
  readonly happened: string[] = []
  healed = false

  constructor(options: FaultPlanOptions) {
    this.#options = options
    const { seed } = options
    // A process that wakes asks the store for its time. If the store's clock jumps meanwhile, it is not defined which answer is right.
    const faults = CALL_FAULTS.filter((fault) => fault !== 'sleep' || !allows(seed, 'clock jump'))
    this.#rates = new Map(faults.map((fault) => [fault, oneOf(seed, `rate of ${fault}`, [0, 0, 0.005, 0.02, 0.05])]))
  }

  /** The fault of one store call, if any. */
  ofCall(call: string, verb: string, args: readonly unknown[]): CallFault | null {
    const { seed, faultFree, without } = this.#options
    if (faultFree || this.healed) return null
    let dice = chance(seed, `call ${call}`) / weightOf(seed, verb, args)
    for (const [fault, rate] of this.#rates) {
      if (dice < rate) {
        const name = `${call} ${fault}`
        if (without.has(name)) return null
        this.happened.push(name)
        return fault
      }
      dice -= rate
    }
    return null
  }

  ofTransaction(call: string): Cut | null {
    const { seed, faultFree, without } = this.#options
    if (faultFree || this.healed || chance(seed, `cut ${call}`) >= CUT_SHARE) return null
    const cut = { statement: pick(seed, `cut of ${call}`, 0, CUT_AT_MAX), kills: chance(seed, `cut kills ${call}`) < 0.4 }
    const name = `${call} cut at statement ${cut.statement}${cut.kills ? ', process dies' : ''}`
    if (without.has(name)) return null
    this.happened.push(name)
    return cut
  }

  /** The faults that happen at a planned time. */
  timed(): Timed[] {
    const { seed, faultFree, faultMs, without } = this.#options
    const [first, ...others] = TIMED_FAULTS.filter((fault) => allows(seed, fault))
    if (faultFree) return []
    const some = (what: string, most: number, kinds: readonly [TimedFault, ...TimedFault[]]): Timed[] =>
      Array.from({ length: pick(seed, `how many ${what}`, 0, most) }, (_, i) => {
        const fault = oneOf(seed, `${what} ${i}`, kinds)
        return { fault, name: `${what} ${i} ${fault}`, atMs: pick(seed, `time of ${what === 'timed' ? '' : what}${i}`, 0, faultMs) }
      })
    const timed = first === undefined ? [] : some('timed', TIMED_MAX, [first, ...others])
    const familyFaults = isWorldOfFamilies(seed) ? FAMILY_FAULTS_MAX : isWorldOfCrowds(seed) ? CROWD_FAULTS_MAX : 0
    const ofFamilies = some('family', familyFaults, FAMILY_FAULTS)
    const ofMachines = chance(seed, 'machines sleep') < SUSPENDS_SHARE ? some('machine', SUSPENDS_MAX, SUSPENDS) : []
    return [...timed, ...ofFamilies, ...ofMachines].filter(({ name }) => !without.has(name))
  }
}

/** Each world has some kinds of timed faults. */
function allows(seed: number, fault: TimedFault): boolean {
  return chance(seed, `allows ${fault}`) < TIMED_SHARE
}

function weightOf(seed: number, verb: string, args: readonly unknown[]): number {
  switch (verb) {
    case 'runs.claim':
    case 'cluster.claimAssigned':
    case 'cluster.claimOpen':
    case 'cluster.findUnassigned':
    case 'cluster.assign':
      return CLAIM_WEIGHT
    case 'files.write':
    case 'files.remove':
    case 'archive.move':
    case 'archive.forget':
      return ARCHIVE_WEIGHT
    case 'runs.apply':
      return (args[0] as readonly unknown[]).length > 1 ? GROUP_WEIGHT : 1
    case 'runs.create':
      return hasInterruptedFamilies(seed) && (args[0] as readonly NewRun[]).some((run) => run.parentRunId !== null) ? CHILD_WEIGHT : 1
    default:
      return 1
  }
}
