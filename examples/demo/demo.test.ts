// `npm start` as a stranger sees it. `npm test` compiles the demo first.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { STEPS } from './job.ts'

const DEMO = fileURLToPath(new URL('../dist/demo/demo.js', import.meta.url))

function startDemo() {
  const temp = mkdtempSync(join(tmpdir(), 'durably-demo-test-'))
  const demo = spawn(process.execPath, ['--no-warnings', DEMO], { env: { ...process.env, TMPDIR: temp, TEMP: temp } })
  onTestFinished(() => {
    demo.kill('SIGKILL')
    rmSync(temp, { recursive: true, force: true })
  })
  return { demo, temp, ended: output(demo) }
}

function output(demo: ChildProcess): Promise<{ stdout: string; stderr: string; code: number | null }> {
  let stdout = ''
  let stderr = ''
  demo.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text))
  demo.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text))
  return new Promise((resolve) => demo.once('close', (code) => resolve({ stdout, stderr, code })))
}

/** The steps one worker showed, each with what it says of it. */
function stepsIn(part: string): { name: string; how: string }[] {
  return Array.from(part.matchAll(/\d+\/12 {2}(\S+) +(ran|skipped \(recorded\))$/gm), ([, name = '', how = '']) => ({ name, how }))
}

function workerPids(text: string): number[] {
  return Array.from(text.matchAll(/^worker (\d+)/gm), ([, pid]) => Number(pid))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('npm start: a killed worker, then another that skips what is recorded and runs the rest', { timeout: 60_000 }, async () => {
  const { temp, ended } = startDemo()
  const { stdout, stderr, code } = await ended
  expect(code).toBe(0)
  expect(stderr).toMatch(/^durably: run \w+ of job "monthly-report" lost its worker and is taken over; .*\n$/)

  const [, first = '', second = ''] = stdout.split(/^worker /m)
  const recorded = Number(/killed with SIGKILL; the file holds (\d+) recorded steps/.exec(first)?.[1])
  const ranFirst = stepsIn(first)
  expect(ranFirst.length).toBeGreaterThanOrEqual(5)
  expect(ranFirst.length).toBeLessThanOrEqual(recorded)
  expect(ranFirst).toStrictEqual(STEPS.slice(0, ranFirst.length).map((name) => ({ name, how: 'ran' })))
  expect(recorded).toBeLessThan(STEPS.length)
  expect(stepsIn(second)).toStrictEqual(STEPS.map((name, i) => ({ name, how: i < recorded ? 'skipped (recorded)' : 'ran' })))

  const total = STEPS.join('').length * 100
  expect(second).toContain(`completed  {"month":"2026-10","total":${total}}`)
  expect(stdout).not.toContain('\u001b')
  expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('kept in'))).toStrictEqual([])
  expect(readdirSync(temp)).toStrictEqual([])
  expect(workerPids(stdout).filter(isAlive)).toStrictEqual([])
})

test('Ctrl-C ends the demo at once and leaves neither processes nor files', { timeout: 60_000 }, async () => {
  const { demo, temp, ended } = startDemo()
  demo.stdout?.on('data', (text) => String(text).includes('ran') && demo.kill('SIGINT'))
  const { stdout, stderr, code } = await ended
  expect({ stderr, code }).toStrictEqual({ stderr: '', code: 130 })
  expect(workerPids(stdout)).toHaveLength(1)
  expect(workerPids(stdout).filter(isAlive)).toStrictEqual([])
  expect(readdirSync(temp)).toStrictEqual([])
})
