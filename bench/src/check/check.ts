// `npm run bench -- --check`: counts what each verb costs on SQLite and Postgres and compares it with bench/baseline.json.
// `--check --update` writes the baseline.
import pg from 'pg'
import { startPostgres } from '../../../proof/dist/postgres/server.js'
import { type Costs, deviations, readBaseline, writeBaseline } from './baseline.ts'
import { costsOf, countTries } from './count-verbs.ts'
import { countedPostgres } from './counted-postgres.ts'
import { countedSqlite } from './counted-sqlite.ts'
import type { CountedStore } from './counts.ts'

const SQLITE_DATABASES = 3

/** `databases`: on how many of them each verb is counted. */
async function costsOn(name: string, open: (eventLog: boolean) => Promise<CountedStore>, databases: number): Promise<Costs> {
  const costs: Costs = {}
  for (const eventLog of [true, false]) {
    const tries: Awaited<ReturnType<typeof countTries>>[] = []
    while (tries.length < databases) {
      const store = await open(eventLog)
      tries.push(await countTries(store, { eventLog }))
      await store.close()
    }
    costs[eventLog ? name : `${name}, eventLog: false`] = costsOf(tries)
  }
  return costs
}

async function costsOnPostgres(): Promise<Costs> {
  // The binaries from npm: another version may write another log.
  const server = await startPostgres({ binaries: 'embedded' })
  try {
    const open = async (eventLog: boolean) => {
      const url = new URL(server.url)
      url.pathname = `/check_${eventLog}`
      const client = new pg.Client(server.url)
      await client.connect()
      await client.query(`CREATE DATABASE check_${eventLog}`)
      await client.end()
      return countedPostgres(url.href)
    }
    return await costsOn('Postgres', open, 1)
  } finally {
    await server.stop()
  }
}

const costs = { ...(await costsOn('SQLite', countedSqlite, SQLITE_DATABASES)), ...(await costsOnPostgres()) }
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
