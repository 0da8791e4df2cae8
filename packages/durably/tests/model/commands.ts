// Every verb of the Store, and time, as fast-check commands. A command holds small numbers and words;
// whom they mean is decided when it runs, so that any command makes sense at any moment and shrinking may drop others.
import * as fc from 'fast-check'
import type { Labels } from '../../src/model/labels.ts'
import { PHASES } from '../../src/model/phase.ts'
import { RUN_STATUSES, type RunRow, type RunStatus, TERMINAL_STATUSES, type TerminalStatus } from '../../src/model/run.ts'
import { type ClaimRequest, LEASE_MS_MAX, type NewRun, type Reaped, type RunCount, type RunPlace } from '../../src/store/runs.ts'
import type { Store } from '../../src/store/store.ts'
import { byId } from '../../src/testing/store-contract/world.ts'
import { applyCommand } from './apply-command.ts'
import * as model from './model.ts'
import { often } from './often.ts'
import { LEASE_MS, nthFromEnd, plainEvent, UNKNOWN, type World } from './world.ts'

export type StoreCommand = fc.AsyncCommand<World, Store>

const JOBS = ['a', 'b'] as const

type Run<A> = (world: World, store: Store, args: A) => Promise<void>

function command<A>(name: string, args: fc.Arbitrary<A>, run: Run<A>): fc.Arbitrary<StoreCommand> {
  return args.map((value) => ({
    check: () => true,
    run: (world, store) => run(world, store, value),
    toString: () => `${name}(${fc.stringify(value)})`,
  }))
}

const some = fc.nat({ max: UNKNOWN })
const jobNames = often<readonly string[]>(['a', 'b'], ['a'], ['b'], ['b', 'a', 'unknown'], [])
const leaseMs = often(LEASE_MS, 1, LEASE_MS * 3, LEASE_MS_MAX)
const confirmMs = often(0, 1, LEASE_MS, LEASE_MS * 3)
const wanted = fc.constantFrom(1, 1, 2, 3)

const newRun = fc.record({
  jobName: fc.constantFrom(...JOBS),
  /** A child is known by its step. */
  known: often<Known>(
    null,
    { idempotencyKey: 'k1' },
    { idempotencyKey: 'k2' },
    { idempotencyKey: 'k3' },
    { parentStep: 's1' },
    { parentStep: 's2' },
  ),
  concurrencyKey: often(null, 'c1', 'c2'),
  /** Without a key it holds none. */
  holdKey: fc.boolean(),
  labels: often(null, '{"l":"1"}', '{"l":"2"}', '{"m":"1","l":"1"}', '{"m":""}'),
  /** From the moment that the store has it, or a time of the clock. */
  due: often(null, { delayMs: 1 }, { delayMs: LEASE_MS }, { runAtMs: 0 }, { runAtMs: 2 * LEASE_MS }),
  deadline: often(null, { deadlineMs: 0 }, { deadlineMs: 2 * LEASE_MS }, { deadlineAtMs: -1 }, { deadlineAtMs: 2 * LEASE_MS }),
  /** Which of the runs before it triggered it. */
  parent: often<number | null>(null, 0, 1, 2, UNKNOWN),
  /** Ids need not grow with time. */
  shelf: fc.constantFrom('run', 'run', 'pre', 'sun'),
})

type Known = { idempotencyKey: string } | { parentStep: string } | null

function knownBy(known: Known, parent: string | null): Pick<NewRun, 'idempotencyKey' | 'parentRunId' | 'parentStep' | 'parentToken'> {
  const parentRunId = known && 'parentStep' in known ? (parent ?? 'elsewhere') : parent
  return { idempotencyKey: null, parentStep: null, parentToken: null, parentRunId, ...known }
}

const create = command('create', fc.array(newRun, { minLength: 1, maxLength: 4, size: 'max' }), async (world, store, specs) => {
  const runs = specs.map(({ shelf, due, deadline, known, parent, ...keys }): NewRun => {
    const now = world.env.wall()
    const delayMs = due && 'delayMs' in due ? due.delayMs : null
    const runAt = due && 'runAtMs' in due ? now + due.runAtMs : null
    const deadlineMs = deadline && 'deadlineMs' in deadline ? deadline.deadlineMs : null
    const deadlineAt = deadline && 'deadlineAtMs' in deadline ? now + deadline.deadlineAtMs : null
    const times = { createdAt: world.at(), delayMs, runAt, deadlineMs, deadlineAt }
    const parentRunId = parent === null ? null : world.runId(parent)
    return { id: world.id(shelf), payload: `"${shelf}"`, ...keys, ...knownBy(known, parentRunId), ...times }
  })
  world.batches.push(runs)
  await sendRuns(world, store, runs)
})

const createAgain = command('createAgain', some, async (world, store, n) => {
  if (world.batches.length > 0) await sendRuns(world, store, nthFromEnd(world.batches, n))
})

async function sendRuns(world: World, store: Store, runs: readonly NewRun[]): Promise<void> {
  const expected = model.create(world.model, runs)
  const touched = [...runs.map(({ id }) => id), ...expected.map(({ run }) => run.id)]
  await world.same(store, `create(${runs.map(({ id }) => id)})`, store.runs.create(runs), expected, touched)
}

const claim = command('claim', fc.record({ jobNames, leaseMs, confirmMs, wanted }), (world, store, { wanted, ...request }) => {
  const tokens = Array.from({ length: wanted }, () => world.id('token'))
  world.claims.push(tokens)
  return sendClaim(world, store, { ...request, tokens, workerId: `worker of ${tokens[0]}` })
})

/** A claim whose reply was lost, or an old one that comes late. */
const claimAgain = command('claimAgain', fc.record({ jobNames, leaseMs, confirmMs, n: some }), async (world, store, { n, ...request }) => {
  await sendClaim(world, store, { ...request, tokens: world.tokens(n) })
})

async function sendClaim(world: World, store: Store, request: ClaimRequest): Promise<void> {
  const { jobNames, tokens } = request
  const before = world.model.runs.map(({ row }) => ({ ...row }))
  const expected = model.claim(world.model, request)
  const isNew = ({ id, version }: RunRow) => before.some((row) => row.id === id && row.version < version)
  const claimed = new Map(expected.filter(isNew).map((row) => [row.id, row]))
  for (const { id, status, jobName } of before) {
    if (jobNames.includes(jobName)) world.matrix.note(status, 'claim', claimed.has(id))
  }
  for (const { id, leaseGeneration, leaseOwner, parentRunId, leaderEpoch } of claimed.values()) {
    world.owners.push({ claim: { runId: id, generation: leaseGeneration, token: leaseOwner ?? '', parentRunId, leaderEpoch }, number: 0 })
  }
  const touched = expected.map(({ id }) => id)
  await world.same(store, `claim(${jobNames} as ${tokens})`, store.runs.claim(request), expected, touched)
}

const adopt = command('adopt', fc.array(some, { maxLength: 3, size: 'max' }), async (world, store, ns) => {
  const tokens = [...new Set(ns.map((n) => world.token(n)))]
  await world.same(store, `adopt(${tokens})`, store.runs.adopt(tokens), model.adopt(world.model, tokens), [])
})

const held = command('held', fc.constant(null), async (world, store) => {
  await world.same(store, 'held()', store.runs.held().then(sorted), sorted(model.held(world.model)), [])
})

function sorted(tokens: readonly string[]): string[] {
  return tokens.toSorted()
}

const apply = command('apply', applyCommand.writes, applyCommand.run)

const reapRequest = fc.record({
  maxRecoveries: fc.constantFrom(0, 1, 2, 3, Number.POSITIVE_INFINITY),
  /** Claims whose owners are known to be gone. */
  gone: often(null, [0], [0, 1, 2, 3, 4], [3, 3, 1], []),
})

const RECLAIMS = ['confirm', 'reclaim', 'reclaimCancelled', 'reclaimTimedOut', 'reclaimCrashLoop'] as const

/**
 * Leases that end at the same time may be answered in any order. Whether a run that is taken back hears of the end of one that is
 * lost with it is left open, so they are not reaped together.
 */
const reap = command('reap', reapRequest, async (world, store, { maxRecoveries, gone }) => {
  const request = { maxRecoveries, ...(gone && { tokens: gone.map((n) => world.token(n)) }) }
  const lost = model.lostRuns(world.model, request).map(({ row }) => row)
  if (lost.some(({ parentRunId }) => lost.some(({ id }) => id === parentRunId))) return
  const before = world.model.runs.map(({ row }) => ({ ...row }))
  const expected = model.reap(world.model, request)
  for (const { id, status } of before) {
    const made = expected.find(({ run }) => run.id === id)?.move
    for (const move of RECLAIMS) world.matrix.note(status, move, made === move)
  }
  const ends = new Map(before.map((row) => [row.id, row.leaseExpiresAt]))
  const plain = (reaped: readonly Reaped[]) => ({
    leaseEnds: reaped.map(({ run }) => ends.get(run.id) ?? null),
    reaped: reaped.toSorted((a, b) => (a.run.id < b.run.id ? -1 : 1)),
  })
  const touched = expected.map(({ run }) => run.id)
  await world.same(store, `reap(${JSON.stringify(request)})`, store.runs.reap(request).then(plain), plain(expected), touched)
})

const wasAlive = command('wasAlive', some, async (world, store, n) => {
  if (world.owners.length === 0) return
  const { claim } = nthFromEnd(world.owners, n)
  const expected = model.wasAlive(world.model, claim)
  await world.same(store, `wasAlive(${claim.token})`, store.runs.wasAlive(claim), expected, [claim.runId])
})

/** A run in some status, so that none is rare. */
const target = fc.record({ n: some, status: fc.constantFrom(...RUN_STATUSES) })

const cancel = command('cancel', target, async (world, store, { status: wanted, n }) => {
  const id = world.runIdIn(wanted, n)
  const status = statusOf(world, id)
  const expected = model.cancel(world.model, id)
  if (status) world.matrix.note(status, 'cancel', expected?.outcome === 'cancelled')
  const touched = [id, ...(expected?.others ?? []).map((other) => other.id)]
  await world.same(store, `cancel(${id})`, store.runs.cancel(id), expected, touched)
})

const retry = command('retry', target, async (world, store, { status: wanted, n }) => {
  const id = world.runIdIn(wanted, n)
  const status = statusOf(world, id)
  const expected = model.retry(world.model, id)
  if (status) world.matrix.note(status, 'retry', expected?.outcome === 'retried')
  await world.same(store, `retry(${id})`, store.runs.retry(id), expected, [id])
})

/** Names are those of steps, so that runs wait for them; `again`: one that was sent before. */
const signal = fc.record({ target, name: fc.constantFrom('s1', 's2', 's3'), again: fc.boolean(), n: some })

const sendSignal = command('signal', signal, async (world, store, { target, name, again, n }) => {
  const runId = world.runIdIn(target.status, target.n)
  const fresh = { id: world.id('signal'), runId, name, value: '"here"', createdAt: world.at() }
  const sent = again && world.signals.length > 0 ? nthFromEnd(world.signals, n) : fresh
  world.signals.push(sent)
  const asked = `signal(${sent.id}, ${sent.name} to ${sent.runId})`
  await world.same(store, asked, store.signals.send(sent), model.sendSignal(world.model, sent), [sent.runId])
})

/** The only leader of the sequence, so its epoch is always the first. */
const LEADER = { workerId: 'leader', token: 'leader', leaseMs: LEASE_MS }
const EPOCH = 1
const WORKER = { id: 'worker', token: 'worker', labels: '{}', capacity: 1, jobNames: '[]', version: null, lastsMs: LEASE_MS }

const assignment = fc.record({ n: some, status: fc.constantFrom(...RUN_STATUSES), isStale: often(false, true) })

const assign = command('assign', assignment, async (world, store, { n, status: wanted, isStale }) => {
  const runId = world.runIdIn(wanted, n)
  const status = statusOf(world, runId)
  const version = (model.get(world.model, runId)?.version ?? 0) + (isStale ? 1 : 0)
  const chosen = { runId, version, workerId: WORKER.id }
  const expected = model.assign(world.model, EPOCH, chosen)
  if (status) world.matrix.note(status, 'assign', expected.length > 0)
  await store.cluster?.lead(LEADER)
  await store.cluster?.attend(WORKER)
  const answer = store.cluster?.assign({ epoch: EPOCH, assignments: [chosen] }) ?? Promise.resolve([])
  await world.same(store, `assign(${runId})`, answer, expected, [runId])
})

const orphan = command('orphan', fc.constant({}), async (world, store) => {
  const before = world.model.runs.map(({ row }) => ({ ...row }))
  const expected = model.orphan(world.model, EPOCH)
  for (const { id, status } of before)
    world.matrix.note(
      status,
      'orphan',
      expected.some((run) => run.id === id),
    )
  await store.cluster?.lead(LEADER)
  await store.cluster?.leave(WORKER)
  const byId = <T extends { id: string }>(runs: readonly T[] | null | undefined) => runs?.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const answer = store.cluster?.orphan({ epoch: EPOCH, reassignAfterMs: 0 }) ?? Promise.resolve([])
  const touched = expected.map(({ id }) => id)
  await world.same(store, 'orphan()', answer.then(byId), byId(expected), touched)
})

const remove = command('delete', target, async (world, store, { status, n }) => {
  const id = world.runIdIn(status, n)
  await world.same(store, `delete(${id})`, store.runs.delete(id), model.remove(world.model, id), [id])
})

const purged = fc.record({
  statuses: often<readonly TerminalStatus[]>(TERMINAL_STATUSES, ['completed'], ['failed', 'cancelled'], []),
  olderThanMs: fc.constantFrom(0, 1, LEASE_MS),
  limit: fc.constantFrom(1, 2, 100),
  jobNames: often(undefined, ['a'], []),
})

const purge = command('purge', purged, async (world, store, { jobNames, ...rest }) => {
  const request = { ...rest, ...(jobNames && { jobNames }) }
  const ids = world.model.runs.map(({ row }) => row.id)
  const expected = model.purge(world.model, request)
  const touched = ids.filter((id) => !model.find(world.model, id))
  await world.same(store, `purge(${JSON.stringify(request)})`, store.runs.purge(request), expected, touched)
})

/** SQL says the phase of a run in its own words. */
const count = command(
  'count',
  often<readonly string[] | undefined>(undefined, ['a'], ['b', 'unknown'], []),
  async (world, store, names) => {
    const inOrder = (counts: RunCount[]) =>
      counts.toSorted((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase) || Number(a.isRetried) - Number(b.isRetried))
    const expected = model.count(world.model, names)
    await world.same(store, `count(${names})`, store.runs.count(names).then(inOrder), expected, [])
  },
)

const get = command('get', some, async (world, store, n) => {
  const id = world.runId(n)
  await world.same(store, `get(${id})`, store.runs.get(id), model.get(world.model, id), [id])
})

const getHolder = command('getHolder', fc.constantFrom('c1', 'c2'), async (world, store, key) => {
  await world.same(store, `getHolder(${key})`, store.runs.getHolder(key), model.getHolder(world.model, key), [])
})

const query = fc.record(
  {
    statuses: fc.subarray([...RUN_STATUSES]),
    phases: fc.subarray([...PHASES]),
    timedOut: fc.boolean(),
    jobNames: fc.subarray([...JOBS, 'unknown']),
    concurrencyKey: fc.constantFrom('c1', 'c2'),
    idempotencyKey: fc.constantFrom('k1', 'k2'),
    parent: some,
    labels: fc.constantFrom<Labels>({ l: '1' }, { l: '1', m: '1' }, { m: '1', l: '1' }, { m: '' }),
    fromId: fc.constantFrom('pre-003', 'run-001', 'run-004', 'sun'),
    beforeId: fc.constantFrom('run-003', 'run-010', 'sun-005'),
    finishedFromMs: fc.constantFrom(0, -LEASE_MS, -3 * LEASE_MS),
    finishedBeforeMs: fc.constantFrom(0, 1, -LEASE_MS),
    oldestFirst: fc.boolean(),
    limit: fc.nat({ max: 5 }),
    /** The place of a run, or a place between two. */
    after: fc.record({ n: some, isRun: fc.boolean() }),
  },
  { requiredKeys: [] },
)

/** One condition in three lists is enough: with all of them there would be nothing to list. */
const someQuery = fc.tuple(query, fc.array(fc.nat({ max: 2 }), { minLength: 17, maxLength: 17 })).map(([all, dice]) => {
  const given = Object.entries(all).filter((_, i) => dice[i] === 0)
  return Object.fromEntries(given) as Partial<typeof all>
})

const list = command('list', someQuery, async (world, store, { after, parent, finishedFromMs, finishedBeforeMs, ...rest }) => {
  const now = world.env.wall()
  const place = after?.isRun ? placeOf(world, after.n) : after && { id: 'q', finishedAt: now - LEASE_MS }
  const asked = {
    ...rest,
    ...(parent !== undefined && { parentRunId: world.runId(parent) }),
    ...(finishedFromMs !== undefined && { finishedFrom: now + finishedFromMs }),
    ...(finishedBeforeMs !== undefined && { finishedBefore: now + finishedBeforeMs }),
    ...(place && { after: place }),
  }
  await world.same(store, `list(${JSON.stringify(asked)})`, store.runs.list(asked), model.list(world.model, asked), [])
})

const events = command(
  'events',
  fc.record({ n: some, after: fc.nat({ max: 2 }), limit: fc.nat({ max: 5 }) }),
  async (world, store, page) => {
    const id = world.runId(page.n)
    const told = model.find(world.model, id)?.events.filter(({ seq }) => seq > page.after) ?? []
    const answer = store.events.list(id, page).then((rows) => rows.map(plainEvent))
    await world.same(store, `events(${id}, ${page.after}, ${page.limit})`, answer, told.slice(0, page.limit), [])
  },
)

const heads = command('heads', fc.array(some, { maxLength: 4, size: 'max' }), async (world, store, ns) => {
  const ids = ns.map((n) => world.runId(n))
  const expected = new Map(ids.flatMap((id) => model.get(world.model, id) ?? []).map((row) => [row.id, row.lastEventSequence]))
  const answer = store.events.heads(ids).then((found) => [...found].sort())
  await world.same(store, `heads(${ids})`, answer, [...expected].sort(), [])
})

/** By ids of this run and of others. */
const find = command(
  'find',
  fc.record({ n: some, ids: fc.array(some, { maxLength: 4, size: 'max' }) }),
  async (world, store, { n, ids }) => {
    const runId = world.runId(n)
    const run = model.find(world.model, runId)
    const steps = world.model.runs.flatMap(({ steps }) => steps.map(({ id }) => id))
    const wantedSteps = steps.length === 0 ? [] : [...new Set(ids.map((i) => nthFromEnd(steps, i)))]
    const lines = world.lines.length === 0 ? [] : [...new Set(ids.map((i) => nthFromEnd(world.lines, i).id))]
    const foundSteps = byId((run?.steps ?? []).filter(({ id }) => wantedSteps.includes(id)))
    const foundLines = byId((run?.logs ?? []).filter(({ id }) => lines.includes(id)))
    await world.same(store, `steps.find(${runId}, ${wantedSteps})`, store.steps.find(runId, wantedSteps).then(byId), foundSteps, [])
    await world.same(store, `logs.find(${runId}, ${lines})`, store.logs.find(runId, lines).then(byId), foundLines, [])
  },
)

const probe = command('probe', jobNames, async (world, store, names) => {
  await world.same(store, `probe(${names})`, store.runs.probe(names), model.probe(world.model, names), [])
})

const line = fc.record({ n: some, level: fc.constantFrom('info', 'warn', 'error'), again: fc.boolean() })

/** `again`: the id of a line that was sent before, perhaps about another run. */
const append = command('logs.append', fc.array(line, { maxLength: 3, size: 'max' }), async (world, store, specs) => {
  const lines = specs.map(({ n, level, again }) => {
    const id = again && world.lines.length > 0 ? nthFromEnd(world.lines, n).id : world.id('line')
    const row = { id, runId: world.runId(n), stepName: null, level, message: `line ${n}`, data: null, timestamp: world.at() }
    world.lines.push(row)
    return row
  })
  model.addLines(world.model, lines)
  const touched = lines.map(({ runId }) => runId)
  await world.same(store, `logs.append(${lines.map(({ id, runId }) => `${id} of ${runId}`)})`, store.logs.append(lines), undefined, touched)
})

const passing = fc.oneof(fc.constantFrom(0, 1, LEASE_MS - 1), fc.constantFrom(LEASE_MS, LEASE_MS + 1), fc.nat({ max: 2 * LEASE_MS }))

const advance = command('advance', passing, async (world, _, ms) => {
  world.story.push({ asked: `advance(${ms})` })
  await world.env.advance(ms)
})

const skews = often(
  0,
  -LEASE_MS_MAX - 1,
  -LEASE_MS_MAX,
  -2 * LEASE_MS,
  -LEASE_MS,
  -1,
  1,
  LEASE_MS,
  2 * LEASE_MS,
  LEASE_MS_MAX,
  LEASE_MS_MAX + 1,
)

const jump = command('jump', skews, async (world, _, ms) => {
  world.story.push({ asked: `jump(${ms})` })
  world.skew(ms)
})

/** Up to so many commands in a sequence. */
export const COMMANDS_MAX = 60

const WEIGHTS: [number, fc.Arbitrary<StoreCommand>][] = [
  [5, create],
  [1, createAgain],
  [9, claim],
  [1, claimAgain],
  [1, adopt],
  [1, held],
  [12, apply],
  [4, reap],
  [1, wasAlive],
  [3, cancel],
  [3, retry],
  [2, remove],
  [3, assign],
  [1, orphan],
  [3, sendSignal],
  [1, get],
  [1, getHolder],
  [1, purge],
  [2, count],
  [3, list],
  [1, events],
  [1, heads],
  [1, find],
  [2, probe],
  [2, append],
  [7, advance],
  [2, jump],
]

const any = fc.oneof(...WEIGHTS.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/**
 * Begins with a run, or nothing would happen for long.
 * Without fast-check's liking for the first and last of every range: here they mean nothing.
 */
export const sequences: fc.Arbitrary<StoreCommand[]> = fc.noBias(
  fc.tuple(create, fc.array(any, { maxLength: COMMANDS_MAX - 1, size: 'max' })).map(([first, rest]) => [first, ...rest]),
)

function statusOf(world: World, id: string): RunStatus | undefined {
  return model.find(world.model, id)?.row.status
}

function placeOf(world: World, n: number): RunPlace | undefined {
  const runs = world.batches.flat()
  if (runs.length === 0) return undefined
  const { id } = nthFromEnd(runs, n)
  return { id, finishedAt: model.find(world.model, id)?.row.finishedAt ?? world.env.wall() }
}
