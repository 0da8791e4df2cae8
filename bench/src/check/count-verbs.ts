import { type CountedStore, type Counts, difference, eachCount } from './counts.ts'
import { type CheckedEngine, checkedEngine, VERBS, type Verb } from './verbs.ts'

/** Noise only adds: a group of writes that a busy event loop has parted, a page that is split just now. The least of so many tries counts. */
const TRIES = 6

/** The costs of all verbs on an empty store, by name. */
export async function countVerbs(store: CountedStore, { eventLog }: { eventLog: boolean }): Promise<Record<string, Counts>> {
  const engines = new Map<number, CheckedEngine>()
  const costs: Record<string, Counts> = {}
  for (const verb of VERBS) {
    const { concurrency = 1 } = verb
    const engine = engines.get(concurrency) ?? (await openEngine(store, { concurrency, eventLog }))
    engines.set(concurrency, engine)
    costs[verb.name] = await leastCost(store, verb, engine)
  }
  for (const { durably } of engines.values()) await durably[Symbol.asyncDispose]()
  return costs
}

async function openEngine(store: CountedStore, options: { concurrency: number; eventLog: boolean }): Promise<CheckedEngine> {
  const engine = checkedEngine({ dialect: store.dialect(), ...options })
  await engine.durably.migrate()
  await store.onOpen?.(engine.durably.db)
  return engine
}

async function leastCost(store: CountedStore, verb: Verb, engine: CheckedEngine): Promise<Counts> {
  let least: Counts | undefined
  for (let i = 0; i < TRIES; i++) {
    const cost = await costOf(store, verb, engine)
    least = least ? eachCount(least, (value, name) => Math.min(value, cost[name] ?? value)) : cost
  }
  return eachCount(least as Counts, (value) => Number((value / (verb.per ?? 1)).toPrecision(3)))
}

async function costOf(store: CountedStore, { prepare, act }: Verb, engine: CheckedEngine): Promise<Counts> {
  const id = (await prepare?.(engine)) ?? ''
  const before = await store.read()
  await act(engine, id)
  return difference(await store.read(), before)
}
