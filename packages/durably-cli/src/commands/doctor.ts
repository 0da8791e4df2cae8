import type { Command } from '../command.ts'
import { examine } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit-code.ts'
import { openDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { printable, printableLines } from '../output/printable.ts'
import { checkExists, placeOf } from '../place.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'look for what is wrong, and say what to do; the exit code is 1 if something does not work',
  about:
    'It reads only: tables, clock, workers, runs that nobody executes, that wait for a key or something else, or that failed, schedules, notifications, connections and disk.',
  examples: ['durably doctor --db app.db', 'durably doctor --json | jq \'.[] | select(.state != "ok")\''],
  async run(given, io) {
    const place = placeOf(given, io)
    checkExists(place)
    const findings: Finding[] = []
    for await (const finding of examine(place, () => openDurably(place))) {
      findings.push(finding)
      if (!given.has('json')) io.out(shown(io, finding))
    }
    io.out(given.has('json') ? JSON.stringify(findings) : WHERE_TO_LOOK)
    return findings.some(({ state }) => state === 'bad') ? EXIT.refused : EXIT.done
  },
}

const WHERE_TO_LOOK = 'durably runs --label name=value finds the run of a customer, and durably explain <id> says why it does not go on.'
const MARGIN = ' '.repeat(18)
const MARKS = { ok: ['green', '✓'], warn: ['yellow', '!'], bad: ['red', '✗'] } as const

function shown(io: Io, { check, state, what, remedy }: Finding): string {
  const [color, mark] = MARKS[state]
  const line = `${paint(io, color, mark)} ${check.padEnd(15)} ${printable(what)}`
  if (remedy === null) return line
  const deeds = printableLines(remedy).split('\n')
  return [line, ...deeds.map((deed, i) => `${MARGIN}${paint(io, 'cyan', `${i === 0 ? '→' : ' '} ${deed}`)}`)].join('\n')
}
