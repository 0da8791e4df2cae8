// `npm run bench -- --check`: counts what each verb costs on SQLite and Postgres and compares it with bench/baseline.json.
// `--check --update` writes the baseline.
import pg from 'pg'
import { startPostgres } from '../../../proof/dist/postgres/server.js'
import { type Costs, deviations, readBaseline, writeBaseline } from './baseline.ts'
import { countVerbs } from './count-verbs.ts'
import { countedPostgres } from './counted-postgres.ts'
import { countedSqlite } from './counted-sqlite.ts'
import type { CountedStore } from './counts.ts'

async function costsOn(name: string, open: (eventLog: boolean) => Promise<CountedStore>): Promise<Costs> {
  const costs: Costs = {}
  for (const eventLog of [true, false]) {
    const store = await open(eventLog)
    costs[eventLog ? name : `${name}, eventLog: false`] = await countVerbs(store, { eventLog })
    await store.close()
  }
  return costs
}

async function costsOnPostgres(): Promise<Costs> {
  // The binaries from npm: another version may write another log.
  const server = await startPostgres({ binaries: 'embedded' })
  try {
    return await costsOn('Postgres', async (eventLog) => {
      const url = new URL(server.url)
      url.pathname = `/check_${eventLog}`
      const client = new pg.Client(server.url)
      await client.connect()
      await client.query(`CREATE DATABASE check_${eventLog}`)
      await client.end()
      return countedPostgres(url.href)
    })
  } finally {
    await server.stop()
  }
}

const costs = { ...(await costsOn('SQLite', countedSqlite)), ...(await costsOnPostgres()) }
if (process.argv.includes('--update')) {
  writeBaseline(costs)
  console.log('wrote bench/baseline.json')
} else {
  const found = deviations(costs, readBaseline())
  for (const sentence of found) console.log(sentence)
  if (found.length > 0) {
    console.log('\nIf a change was meant to do this, run `npm run bench -- --check --update` and commit bench/baseline.json.')
    process.exitCode = 1
  } else console.log('every operation costs what bench/baseline.json says')
}
