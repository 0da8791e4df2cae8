import { type CountedStore, type Counts, difference, eachCount } from './counts.ts'
import { type CheckedEngine, checkedEngine, VERBS, type Verb } from './verbs.ts'

/** Each finds the pages as the one before has left them, so on SQLite the same verb takes from 191 to 221 of them. */
const TRIES = 6

/** What each try of each verb costs on an empty store, by the name of the verb. */
export async function countTries(store: CountedStore, { eventLog }: { eventLog: boolean }): Promise<Record<string, Counts[]>> {
  const engines = new Map<number, CheckedEngine>()
  const tries: Record<string, Counts[]> = {}
  for (const verb of VERBS) {
    const { concurrency = 1 } = verb
    const engine = engines.get(concurrency) ?? (await openEngine(store, { concurrency, eventLog }))
    engines.set(concurrency, engine)
    const costs: Counts[] = []
    while (costs.length < TRIES) costs.push(await costOf(store, verb, engine))
    tries[verb.name] = costs
  }
  for (const { durably } of engines.values()) await durably[Symbol.asyncDispose]()
  return tries
}

/**
 * The cost of each verb: the least of its tries. Noise only adds, such as a group of writes that a busy event loop has parted. The cheapest try may
 * be the one that meets it, but the same try costs the same on each store, and hardly meets it on all.
 */
export function costsOf(stores: readonly Record<string, Counts[]>[]): Record<string, Counts> {
  const costs = VERBS.map((verb) => {
    const tries = stores.flatMap((store) => store[verb.name] ?? [])
    return [verb.name, eachCount(tries.reduce(least), (value) => Number((value / (verb.per ?? 1)).toPrecision(3)))]
  })
  return Object.fromEntries(costs) as Record<string, Counts>
}

function least(one: Counts, other: Counts): Counts {
  return eachCount(one, (value, name) => Math.min(value, other[name] ?? value))
}

async function openEngine(store: CountedStore, options: { concurrency: number; eventLog: boolean }): Promise<CheckedEngine> {
  const engine = checkedEngine({ dialect: store.dialect(), ...options })
  await engine.durably.migrate()
  await store.onOpen?.(engine.durably.db)
  return engine
}

async function costOf(store: CountedStore, { prepare, act }: Verb, engine: CheckedEngine): Promise<Counts> {
  const id = (await prepare?.(engine)) ?? ''
  const before = await store.read()
  await act(engine, id)
  return difference(await store.read(), before)
}
