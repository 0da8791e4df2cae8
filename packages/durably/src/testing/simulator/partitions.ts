// Partitions — which workers of a fleet are cut off from the store, and when. Nothing of what a worker sends arrives, or it hears no answer.
import { chance, oneOf, pick } from './chance.ts'
import type { CallFault, CallFaults, FaultPlan } from './fault-plan.ts'

const PARTITIONS_MAX = 5
/** How long a partition lasts at most, in leases. */
const LEASES_MAX = 5

interface Partition {
  name: string
  machine: string
  fromMs: number
  untilMs: number
  fault: CallFault
}

interface PartitionsOptions {
  seed: number
  leaseMs: number
  faultMs: number
  faultFree: boolean
  without: ReadonlySet<string>
  /** The other faults of the world. */
  plan: FaultPlan
  /** The time of the world. */
  now: () => number
}

export class Partitions implements CallFaults {
  readonly #options: PartitionsOptions
  readonly #all: Partition[]

  constructor(options: PartitionsOptions) {
    const { seed, leaseMs, faultMs, faultFree, without } = options
    this.#options = options
    this.#all = Array.from({ length: faultFree ? 0 : pick(seed, 'partitions', 0, PARTITIONS_MAX) }, (_, i) => {
      const name = `partition ${i}`
      const fromMs = pick(seed, `${name} from`, 0, faultMs)
      const lastsMs = leaseMs * LEASES_MAX * chance(seed, `${name} lasts`)
      const fault = oneOf(seed, `${name} loses`, ['lose request', 'lose request', 'lose reply'] as const)
      return { name, machine: `w${pick(seed, `${name} of`, 0, 3)}`, fromMs, untilMs: fromMs + lastsMs, fault }
    }).filter(({ name }) => !without.has(name))
  }

  ofCall(call: string, verb: string, args: readonly unknown[]): CallFault | null {
    const { plan, now } = this.#options
    const partition = this.#all.find(({ machine, fromMs, untilMs }) => call.startsWith(`${machine}.`) && fromMs <= now() && now() < untilMs)
    if (!partition || plan.healed) return plan.ofCall(call, verb, args)
    if (!plan.happened.includes(partition.name)) plan.happened.push(partition.name)
    return partition.fault
  }

  ofTransaction(call: string): ReturnType<FaultPlan['ofTransaction']> {
    return this.#options.plan.ofTransaction(call)
  }
}
