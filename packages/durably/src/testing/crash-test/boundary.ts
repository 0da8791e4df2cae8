// Boundary — a store call that makes something durable, under a name that a person can read: claim, step "fetch", complete.
// The same call has the same name in every world, so a fault can be aimed at it.
import { decodeEffects } from '../../model/effect.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'

export interface Boundary {
  name: string
  /** It writes the end of the run, so a cancel comes too late. */
  endsRun: boolean
}

/** Reads are no boundaries: a process that dies at one leaves nothing half done. */
const OTHER_CALLS: Record<string, string> = {
  'runs.claim': 'claim',
  'runs.create': 'trigger',
  'runs.cancel': 'cancel request',
  'runs.retry': 'retry',
  'runs.delete': 'delete',
  'logs.append': 'log lines',
}

export class BoundaryNames {
  readonly #runId: string
  readonly #seen = new Map<string, number>()

  constructor(runId: string) {
    this.#runId = runId
  }

  /** `null` for a read. */
  of(verb: string, args: readonly unknown[]): Boundary | null {
    const writes = verb === 'runs.apply' ? (args[0] as readonly OwnerWrite[]) : []
    const plain = verb === 'runs.apply' ? writes.map((write) => this.#writeName(write)).join(' + ') : OTHER_CALLS[verb]
    if (plain === undefined) return null
    const times = (this.#seen.get(plain) ?? 0) + 1
    this.#seen.set(plain, times)
    const endsRun = writes.some(({ claim, verb }) => claim.runId === this.#runId && (verb.type === 'complete' || verb.type === 'fail'))
    return { name: numbered(plain, times), endsRun }
  }

  #writeName({ claim, verb, events, effects }: OwnerWrite): string {
    const whose = claim.runId === this.#runId ? '' : ' of another run'
    const chunk = events.findLast(({ type }) => type === 'stream:chunk')?.payload
    if (verb.type === 'heartbeat' && chunk)
      return `${chunk.state === undefined ? 'chunks' : 'checkpoint'} of ${JSON.stringify(chunk.stepName)}${whose}`
    const begun = decodeEffects(effects).at(-1)
    if (verb.type === 'heartbeat' && begun) return `start of ${JSON.stringify(begun.name)}${whose}`
    if (verb.type !== 'recordStep') return verb.type + whose
    return `${verb.step.status === 'completed' ? 'step' : 'failed step'} ${JSON.stringify(verb.step.name)}${whose}`
  }
}

/** A long step has hundreds of heartbeats, a long stream hundreds of chunks and checkpoints, and each kind is alike. */
const ALIKE = /^(?:heartbeat|chunks of|checkpoint of)/
const ALIKE_MAX = 3

/** `shown` is its name for people: claims that found nothing are no boundaries, but they have numbers. */
export function worthTrying(boundaries: readonly Boundary[]): (Boundary & { shown: string })[] {
  const times = new Map<string, number>()
  return boundaries.flatMap((boundary) => {
    const plain = boundary.name.replace(/ #\d+$/, '')
    const time = (times.get(plain) ?? 0) + 1
    times.set(plain, time)
    return ALIKE.test(plain) && time > ALIKE_MAX ? [] : [{ ...boundary, shown: numbered(plain, time) }]
  })
}

function numbered(plain: string, time: number): string {
  return time === 1 ? plain : `${plain} #${time}`
}
