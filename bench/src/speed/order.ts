// Order — what one measuring process is asked, and what it answers.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CONTENDERS, type ContenderId } from './contenders.ts'
import { NODE_24 } from './peers.ts'
import type { Place } from './place.ts'
import type { Figure, Workload } from './workload.ts'

export interface Order {
  contender: ContenderId
  workload: Workload
  place: Place
}

export type Answer = { figure: Figure } | { failed: string }

export const MARK = '@figure '
const TIMEOUT_MS = 60_000
const MEASURE = fileURLToPath(new URL('measure.js', import.meta.url))

/** Every measurement has a process of its own: no one inherits another's heap, compiled code or open handles. */
export function execute(order: Order): Promise<Answer> {
  const { node } = CONTENDERS[order.contender] as { node?: string }
  if (node && !existsSync(NODE_24)) return Promise.resolve({ failed: 'needs Node 24, which npm has for Linux on x64 only' })
  return new Promise((resolve) => {
    const args = ['--no-warnings', MEASURE, JSON.stringify(order)]
    execFile(
      node ? NODE_24 : process.execPath,
      args,
      { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        const line = stdout.split('\n').findLast((line) => line.startsWith(MARK))
        if (line) resolve(JSON.parse(line.slice(MARK.length)) as Answer)
        else resolve({ failed: error?.killed ? `no answer within ${TIMEOUT_MS / 1000} s` : `its process ended: ${lastLine(stderr)}` })
      },
    )
  })
}

function lastLine(text: string): string {
  return (
    text
      .trim()
      .split('\n')
      .findLast((line) => /error|signal|fault/i.test(line)) ?? text.trim().slice(-200)
  )
}
