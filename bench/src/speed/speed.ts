// `npm run bench`: Durably, the raw limit and the peers, row by row. With all rows in their full sizes it writes BENCHMARKS.md and its plot.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { speedOptions } from './options.ts'
import { installPeers } from './peers.ts'
import { Places } from './places.ts'
import { benchmarksPage } from './report/page.ts'
import { plot } from './report/plot.ts'
import { ratioTable } from './report/ratio-table.ts'
import { load, machine, type Results, rowResults } from './results.ts'
import { measureRounds } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const options = speedOptions(process.argv.slice(2))
installPeers()
const about = machine(options.quick)
const began = performance.now()
const places = new Places()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void places.close().finally(() => process.exit(1)))
try {
  const all = await measureRounds(options, places)
  const isOnPostgres = options.rows.some(({ place }) => place === 'postgres')
  const results: Results = {
    machine: { ...about, load: [about.load[0], load()], ...(isOnPostgres && { postgres: await places.postgresVersion() }) },
    seconds: Math.round((performance.now() - began) / 1000),
    rows: rowResults(options.rows, all),
  }
  console.log(`\n${ratioTable(results)}\n\n${results.seconds} s`)
  write(results)
} finally {
  await places.close()
}

function write(results: Results): void {
  const directory = join(ROOT, 'bench', 'results')
  mkdirSync(directory, { recursive: true })
  const name = options.writes ? 'full' : options.quick ? 'quick' : 'part'
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(results, null, 1)}\n`)
  console.log(`wrote bench/results/${name}.json`)
  if (!options.writes) return
  writeFileSync(join(ROOT, 'docs', 'images', 'benchmarks.svg'), plot(results))
  writeFileSync(join(ROOT, 'BENCHMARKS.md'), benchmarksPage(results))
  console.log('wrote BENCHMARKS.md and docs/images/benchmarks.svg')
}
