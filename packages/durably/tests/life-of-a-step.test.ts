// “The life of one step” in ARCHITECTURE.md: the files exist, and each imports the next one, or the interface that the next one implements.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url))
const PAGE = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8')
const SECTION = /^## The life of one step$([\s\S]*?)^## /m.exec(PAGE)?.[1] ?? ''
const ROW = /^\| \d+ \| `([^`]+)` \| (?:`([^`]+)` )?\|/gm
const IMPORT = /\bfrom '([^']+)'|\bimport\('([^']+)'\)/g

interface Stop {
  file: string
  /** What the file before it imports: the interface that this one implements, or the file itself. */
  through: string
}

const stops: Stop[] = Array.from(SECTION.matchAll(ROW), ([, file = '', through = file]) => ({ file, through }))

/** Files of `src` by their path in it, packages by their name. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), 'utf8')
  return Array.from(text.matchAll(IMPORT), ([, fixed, dynamic]) => fixed ?? dynamic ?? '').map((target) =>
    target.startsWith('.')
      ? normalize(join(dirname(file), target))
          .split(sep)
          .join('/')
      : target,
  )
}

test('the files exist, and the first one has `ctx.run`', () => {
  expect(stops.length).toBeGreaterThanOrEqual(8)
  expect(stops.map(({ file }) => file).filter((file) => !existsSync(join(SOURCE, file)))).toStrictEqual([])
  expect(readFileSync(join(SOURCE, stops[0]?.file ?? ''), 'utf8')).toContain('implements JobContext')
})

test.each(stops.slice(1).map((stop, i) => ({ ...stop, before: stops[i]?.file ?? '' })))(
  '$before reaches $file through $through',
  ({ before, through, file }) => {
    expect(importsOf(before)).toContain(through)
    if (through !== file) expect(importsOf(file)).toContain(through)
  },
)

const CALL = /^ *(?:\w+\.)?(\w+)\([^)]*\) +([\w-]+\.ts) /gm

test.each(Array.from(SECTION.matchAll(CALL), ([, call = '', file = '']) => ({ call, file })))(
  '$call of the trace is in $file',
  ({ call, file }) => {
    const files = [...stops.map((stop) => stop.file), 'worker/execution.ts'].filter((path) => path.endsWith(`/${file}`))
    expect(files).toHaveLength(1)
    // `apply` is what `applyWrites` returns.
    expect(readFileSync(join(SOURCE, files[0] ?? ''), 'utf8')).toMatch(
      new RegExp(`^ *(export |async |function )*${call}(Writes)?[<(]`, 'm'),
    )
  },
)

test('the trace has all calls from ctx.run to the driver', () => {
  expect(Array.from(SECTION.matchAll(CALL)).length).toBe(13)
})

test('every other file that the section names exists', () => {
  const named = Array.from(SECTION.matchAll(/`((?:worker|events|store|sqlite|postgres)(?:\/[\w-]+)*(?:\.ts)?)`/g), ([, path = '']) => path)
  expect(named.length).toBeGreaterThan(stops.length)
  expect(named.filter((path) => !existsSync(join(SOURCE, path)))).toStrictEqual([])
})
