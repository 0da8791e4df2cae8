// A store as somebody else would write it: against the types that the package exports by name, and no others.
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type CancelOutcome,
  type Changed,
  type Claim,
  type ClaimRequest,
  type Created,
  type CreateOptions,
  createDurably,
  type DeleteOutcome,
  type DueJobsRequest,
  type EventPage,
  type EventRow,
  type EventStore,
  type IfVersion,
  type LogRow,
  type LogStore,
  type NewRun,
  type OldestDue,
  type OwnerWrite,
  type Probe,
  type PurgeRequest,
  type Reaped,
  type ReapRequest,
  type RetryOutcome,
  type RowPage,
  type RunCount,
  type RunQuery,
  type RunRow,
  type RunStore,
  type SendOutcome,
  type SignalRow,
  type SignalStore,
  type StepRow,
  type StepStore,
  type Store,
  type TransactOutcome,
  type WriteOutcome,
} from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { createTaskQueue } from '../../src/tasks/index.ts'

type Note = (verb: string) => void

class OwnRuns implements RunStore {
  constructor(
    private readonly kept: RunStore,
    private readonly note: Note,
  ) {}

  create(runs: readonly NewRun[], options?: CreateOptions): Promise<Created[]> {
    this.note('create')
    return this.kept.create(runs, options)
  }
  claim(request: ClaimRequest): Promise<RunRow[]> {
    this.note('claim')
    return this.kept.claim(request)
  }
  adopt(tokens: readonly string[]): Promise<RunRow[]> {
    return this.kept.adopt(tokens)
  }
  held(): Promise<string[]> {
    return this.kept.held()
  }
  apply(writes: readonly OwnerWrite[]): Promise<WriteOutcome[]> {
    for (const { verb } of writes) this.note(verb.type)
    return this.kept.apply(writes)
  }
  reap(request: ReapRequest): Promise<Reaped[]> {
    return this.kept.reap(request)
  }
  cancel(id: string, options?: IfVersion): Promise<CancelOutcome | Changed | null> {
    return this.kept.cancel(id, options)
  }
  retry(id: string, options?: IfVersion): Promise<RetryOutcome | Changed | null> {
    return this.kept.retry(id, options)
  }
  delete(id: string, options?: IfVersion): Promise<DeleteOutcome | Changed | null> {
    return this.kept.delete(id, options)
  }
  get(id: string): Promise<RunRow | null> {
    return this.kept.get(id)
  }
  getChild(parentRunId: string, step: string): Promise<RunRow | null> {
    return this.kept.getChild(parentRunId, step)
  }
  getHolder(concurrencyKey: string): Promise<RunRow | null> {
    return this.kept.getHolder(concurrencyKey)
  }
  list(query: RunQuery): Promise<RunRow[]> {
    return this.kept.list(query)
  }
  wasAlive(claim: Claim): Promise<void> {
    return this.kept.wasAlive(claim)
  }
  count(jobNames?: readonly string[]): Promise<RunCount[]> {
    return this.kept.count(jobNames)
  }
  purge(request: PurgeRequest): Promise<number> {
    return this.kept.purge(request)
  }
  oldestDue(jobNames: readonly string[]): Promise<OldestDue | null> {
    return this.kept.oldestDue(jobNames)
  }
  dueJobs(request: DueJobsRequest): Promise<string[]> {
    return this.kept.dueJobs(request)
  }
  probe(jobNames: readonly string[]): Promise<Probe> {
    return this.kept.probe(jobNames)
  }
}

class OwnSteps implements StepStore {
  constructor(private readonly kept: StepStore) {}

  list(runId: string, page?: RowPage): Promise<StepRow[]> {
    return this.kept.list(runId, page)
  }
  listOwned(claim: Claim, page?: RowPage): Promise<StepRow[] | null> {
    return this.kept.listOwned(claim, page)
  }
  find(runId: string, ids: readonly string[]): Promise<StepRow[]> {
    return this.kept.find(runId, ids)
  }
}

class OwnEvents implements EventStore {
  constructor(private readonly kept: EventStore) {}

  list(runId: string, page?: EventPage): Promise<EventRow[]> {
    return this.kept.list(runId, page)
  }
  heads(runIds: readonly string[]): Promise<Map<string, number>> {
    return this.kept.heads(runIds)
  }
}

class OwnLogs implements LogStore {
  constructor(private readonly kept: LogStore) {}

  append(lines: readonly LogRow[]): Promise<void> {
    return this.kept.append(lines)
  }
  list(runId: string, page?: RowPage): Promise<LogRow[]> {
    return this.kept.list(runId, page)
  }
  find(runId: string, ids: readonly string[]): Promise<LogRow[]> {
    return this.kept.find(runId, ids)
  }
}

class OwnSignals implements SignalStore {
  constructor(private readonly kept: SignalStore) {}

  send(signal: SignalRow): Promise<SendOutcome | null> {
    return this.kept.send(signal)
  }
  list(runId: string): Promise<SignalRow[]> {
    return this.kept.list(runId)
  }
}

class OwnStore implements Store {
  readonly verbs: string[] = []
  readonly eventLog = true
  readonly #kept = memoryStore()
  readonly runs = new OwnRuns(this.#kept.runs, (verb) => this.verbs.push(verb))
  readonly steps = new OwnSteps(this.#kept.steps)
  readonly events = new OwnEvents(this.#kept.events)
  readonly logs = new OwnLogs(this.#kept.logs)
  readonly signals = new OwnSignals(this.#kept.signals)

  migrate(): Promise<void> {
    return this.#kept.migrate()
  }
  close(): Promise<void> {
    return this.#kept.close()
  }
}

test('a store that is written against exported types alone keeps runs', async () => {
  const store = new OwnStore()
  await using durably = createDurably({ store })
  const job = durably.defineJob({ name: 'double', input: z.number() }, (ctx, n) => ctx.run('double', () => n * 2))
  const { id } = await job.trigger(21)
  await durably.processUntilIdle()
  expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 42 })
  expect(store.verbs).toEqual(['create', 'claim', 'recordStep', 'complete'])
  expectTypeOf<NonNullable<Store['transact']>>().returns.resolves.toEqualTypeOf<TransactOutcome>()
})

test('and tasks: the queue is swapped, the handlers stay (003 §差し替え)', async () => {
  const store = new OwnStore()
  await using queue = createTaskQueue({ store })
  const isDone = new Promise<void>((resolve) => {
    queue.on('stateChange', ({ state }) => state === 'Succeeded' && resolve())
  })
  queue.register({ taskType: 'greet', execute: () => {} })
  queue.start()
  await queue.enqueue({ taskType: 'greet', payload: null })
  await isDone
  expect(store.verbs).toEqual(expect.arrayContaining(['create', 'claim', 'complete']))
})
