// `npm run accept:fleet`: two API processes, two workers, a Postgres, a proxy, Chromium; what breaks elsewhere is broken here on purpose.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { accept, type Played } from './fleet/accept.ts'
import { isTimed } from './fleet/scenario.ts'

const HELP = `Starts two API processes behind a round-robin proxy, two workers and a Postgres, and breaks them one after the other.

  npm run accept:fleet                        all scenarios, about two minutes
  npm run accept:fleet -- --short             fewer runs
  npm run accept:fleet -- --only stop         those with this in their name
  npm run accept:fleet -- --report file.json  where the figures go (default .tmp/accept-fleet.json)`

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    report: { type: 'string', default: '.tmp/accept-fleet.json' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(HELP)
else {
  const played = await accept({ isShort: values.short, only: values.only, onPlayed: (one) => console.log(line(one)) })
  mkdirSync(dirname(values.report), { recursive: true })
  writeFileSync(values.report, `${JSON.stringify({ node: process.version, played }, null, 2)}\n`)
  console.log(`figures: ${values.report}`)
  process.exit(played.length === 0 || played.some(({ error, tooSlow }) => error !== null || tooSlow.length > 0) ? 1 : 0)
}

function line({ scenario, figures, error, tooSlow }: Played): string {
  if (error !== null) return `FAILED ${scenario}: ${error}`
  const parts = Object.entries(figures).map(([name, figure]) =>
    isTimed(figure) ? `${name} after ${Math.round(figure.ms)} ms (at most ${figure.boundMs})` : `${name} ${figure}`,
  )
  return `${tooSlow.length > 0 ? 'TOO SLOW' : 'ok'} ${scenario}: ${parts.join(', ')}`
}
