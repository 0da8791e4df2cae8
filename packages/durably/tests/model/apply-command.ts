// What owners write, in every disguise: the owner itself, one whose lease has ended, one with another's token or generation,
// a write sent again, a number used twice; with and without attachments; one or several in a call.
import * as fc from 'fast-check'
import type { RecordedEvent } from '../../src/model/event.ts'
import type { LogRow } from '../../src/model/log.ts'
import { encodeStreams } from '../../src/model/stream.ts'
import { encodeWaits, type Wait } from '../../src/model/wait.ts'
import { endsLease, type OwnerVerb, type OwnerWrite } from '../../src/store/owner-write.ts'
import type { Store } from '../../src/store/store.ts'
import * as model from './model.ts'
import { often } from './often.ts'
import { LEASE_MS, nthFromEnd, type Owner, UNKNOWN, type World } from './world.ts'

/** Lives end soon enough. */
const VERBS = [
  ...(['heartbeat', 'heartbeat', 'recordStep', 'recordStep', 'recordStep'] as const),
  ...(['complete', 'fail', 'release', 'abandon', 'retryLater', 'retryLater', 'park', 'park'] as const),
] satisfies OwnerVerb['type'][]

const write = fc.record({
  /** Which of the owners, the last ones first; two times out of three one who really owns, where there is one. */
  n: fc.nat({ max: UNKNOWN }),
  who: often('itself', 'another token', 'an older generation', 'a later generation', 'nobody'),
  number: often('next', 'a used one', 'a write sent again'),
  verb: fc.constantFrom(...VERBS),
  step: fc.record({ name: fc.constantFrom('s1', 's2', 's3'), index: fc.nat({ max: 3 }), status: fc.constantFrom('completed', 'failed') }),
  leaseMs: often(LEASE_MS, 1, 3 * LEASE_MS),
  endsStream: fc.boolean(),
  attachments: fc.record({
    events: fc.array(fc.constantFrom('step:start', 'stream:chunk', 'stream:reset'), { maxLength: 3, size: 'max' }),
    logs: fc.nat({ max: 2 }),
    progress: fc.boolean(),
    streams: often(null, [], ['s1'], ['s2', 's1']),
    effects: often(null, '[]', '["s1"]'),
  }),
  wait: fc.record({
    inMs: fc.constantFrom(0, 1, LEASE_MS, 3 * LEASE_MS),
    kinds: fc.constantFrom<Wait['kind'][]>(['sleep'], ['signal'], ['retry', 'signal'], ['child']),
    /** How many signals it has not heard of. */
    unseen: often(0, 1),
  }),
})

type WriteSpec = typeof write extends fc.Arbitrary<infer T> ? T : never

export const applyCommand = {
  writes: fc.array(write, { minLength: 1, maxLength: 6, size: 'max' }),

  async run(world: World, store: Store, specs: readonly WriteSpec[]): Promise<void> {
    const writes: OwnerWrite[] = []
    for (const spec of specs) {
      const next = writeOf(world, spec)
      if (next && !writes.some((other) => isImpostor(other, next))) writes.push(next)
    }
    world.writes.push(...writes)
    const expected = writes.map((write) => expectedOf(world, write))
    const asked = `apply(${writes.map(({ claim, number, verb }) => `${verb.type} ${number} of ${claim.runId} by ${claim.generation} ${claim.token}`)})`
    await world.same(
      store,
      asked,
      store.runs.apply(writes),
      expected,
      writes.map(({ claim }) => claim.runId),
    )
  },
}

/** One after the other, so that the status before each is known. */
function expectedOf(world: World, write: OwnerWrite) {
  const before = model.find(world.model, write.claim.runId)?.row
  const was = before && { ...before }
  const [outcome = { ok: false as const }] = model.apply(world.model, [write])
  const isMade = before !== undefined && was !== undefined && before.version > was.version
  // A write that was applied before is neither made nor refused.
  if (was && endsLease(write.verb) && (isMade || !outcome.ok)) world.matrix.note(was.status, write.verb.type, isMade)
  return outcome
}

/**
 * Two tokens of one generation. A store may find out only after the call that a write was not applied before, and an
 * ended lease has forgotten its token; no claim makes two tokens of one generation, so nobody can send this.
 */
function isImpostor(a: OwnerWrite, b: OwnerWrite): boolean {
  return a.claim.runId === b.claim.runId && a.claim.generation === b.claim.generation && a.claim.token !== b.claim.token
}

function writeOf(world: World, spec: WriteSpec): OwnerWrite | null {
  if (spec.number === 'a write sent again') return world.writes.length > 0 ? nthFromEnd(world.writes, spec.n) : null
  const owner = spec.who === 'nobody' ? nobody(world, spec.n) : chosenOwner(world, spec.n)
  if (!owner) return null
  const claim = { ...owner.claim }
  if (spec.who === 'another token') claim.token = 'token-wrong'
  if (spec.who === 'an older generation') claim.generation -= 1
  if (spec.who === 'a later generation') claim.generation += 1
  const number = spec.number === 'next' ? owner.number + 1 : Math.max(1, owner.number)
  if (spec.who === 'itself') owner.number = number
  const at = world.at()
  const lines = Array.from({ length: spec.attachments.logs }, () => lineOf(world, claim.runId))
  const events = spec.attachments.events.map((type, i): RecordedEvent => {
    const payload = { generation: claim.generation, stepName: i === 1 ? 's3' : spec.step.name }
    return { type, payload: type === 'stream:chunk' ? { ...payload, from: i, chunks: '["text"]' } : payload, createdAt: at }
  })
  // The step of a stream tells it as a whole.
  if (spec.verb === 'recordStep' && spec.endsStream) {
    events.push({
      type: 'stream:chunk',
      payload: { generation: claim.generation, stepName: spec.step.name, from: 0, chunks: '["all"]' },
      createdAt: at,
    })
  }
  const progress = spec.attachments.progress ? JSON.stringify({ current: number }) : null
  const streams =
    spec.attachments.streams && encodeStreams(spec.attachments.streams.map((stepName) => ({ stepName, kept: number, state: '"here"' })))
  return { claim, number, verb: verbOf(world, claim, spec), events, logs: lines, progress, streams, effects: spec.attachments.effects }
}

function chosenOwner(world: World, n: number): Owner | undefined {
  const real = world.owners.filter(({ claim }) => {
    const row = model.find(world.model, claim.runId)?.row
    return row?.leaseOwner === claim.token && row.leaseGeneration === claim.generation
  })
  if (n % 3 > 0 && real.length > 0) return nthFromEnd(real, n)
  return world.owners.length > 0 ? nthFromEnd(world.owners, n) : undefined
}

/** Someone who never claimed the run. */
function nobody(world: World, n: number): Owner {
  return { claim: { runId: world.runId(n), generation: 0, token: 'token-nobody' }, number: 0 }
}

function lineOf(world: World, runId: string): LogRow {
  const line: LogRow = {
    id: world.id('line'),
    runId,
    stepName: 's1',
    level: 'info',
    message: 'attached',
    data: '{}',
    timestamp: world.at(),
  }
  world.lines.push(line)
  return line
}

function verbOf(world: World, claim: Owner['claim'], { verb, step, leaseMs, endsStream, wait }: WriteSpec): OwnerVerb {
  const runAt = world.env.wall() + wait.inMs
  switch (verb) {
    case 'heartbeat':
      return { type: verb, leaseMs }
    case 'complete':
      return { type: verb, output: '"done"' }
    case 'fail':
      return { type: verb, error: 'boom', failure: '{"name":"Error"}', reason: 'error', failedStepName: step.name }
    case 'recordStep':
      return { type: verb, leaseMs, step: stepOf(world, claim, step), ...(endsStream && { endsStream }) }
    case 'retryLater':
      return {
        type: verb,
        runAt,
        error: 'again',
        failure: '{"name":"Error"}',
        attempt: 1,
        waitingFor: waitsOf(['retry'], step.name, runAt),
      }
    case 'park': {
      const signals = Math.max(0, (model.find(world.model, claim.runId)?.row.signals ?? 0) - wait.unseen)
      return { type: verb, runAt, waitingFor: waitsOf(wait.kinds, step.name, runAt), signals }
    }
    default:
      return { type: verb }
  }
}

function waitsOf(kinds: readonly Wait['kind'][], name: string, dueAt: number): string {
  return encodeWaits(kinds.map((kind) => ({ name, kind, dueAt })))
}

function stepOf(world: World, { runId, generation }: Owner['claim'], { name, index, status }: WriteSpec['step']) {
  const isCompleted = status === 'completed'
  return {
    id: world.id('step'),
    runId,
    name,
    index,
    status,
    output: isCompleted ? `"${name}"` : null,
    error: isCompleted ? null : 'no answer',
    failure: isCompleted ? null : '{"name":"Error"}',
    startedAt: world.at(),
    completedAt: isCompleted ? world.at() : null,
    leaseGeneration: generation,
  }
}
