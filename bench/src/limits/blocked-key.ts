// Many runs wait for a concurrency key that is taken. A run behind them that needs no key must be found at once all the same.
import { sqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import { anything } from '../anything.ts'
import { median } from '../summary.ts'
import { analyse, dialectOf, type Limit, openEngine } from './limit.ts'

const BLOCKED = 10_000
const FREE = 50
const LEASE_MS = 600_000
const JOB = 'job'

export const blockedKey: Limit = {
  title: `a claim behind ${BLOCKED.toLocaleString('en')} runs of a key that is taken, median`,
  unit: 'ms',
  most: 3,
  async measure(store) {
    const durably = await openEngine(store, 1)
    const job = durably.defineJob({ name: JOB, input: anything }, async () => {})
    const { runs, close } = sqlStore({ dialect: dialectOf(store), eventLog: store.eventLog })
    let claims = 0
    const claim = () => runs.claim({ jobNames: [JOB], tokens: [`claim ${claims++}`], leaseMs: LEASE_MS })
    await job.trigger(null, { concurrencyKey: 'taken' })
    await claim()
    await job.batchTrigger(Array.from({ length: BLOCKED }, () => ({ payload: null, options: { concurrencyKey: 'taken' } })))
    await analyse(durably)
    const times: number[] = []
    for (let i = 0; i < FREE; i++) {
      const { id } = await job.trigger(null)
      const began = performance.now()
      const [claimed] = await claim()
      times.push(performance.now() - began)
      if (claimed?.id !== id) throw new Error('the free run was not claimed')
    }
    await close()
    await durably[Symbol.asyncDispose]()
    return median(times)
  },
}
