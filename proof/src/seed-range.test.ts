import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshRange, SEED_MAX, SEEDS_MAX } from './seed-range.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'durably-source-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function placeOf(files: Record<string, string>): number {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'worker'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return freshRange('memory', 10, folder).from
}

const SOURCE = { 'a.ts': 'one\ntwo\n', 'worker/b.ts': 'three\n' }

test('the same source has the same seeds, whatever ends its lines and whatever its tests say', () => {
  const place = placeOf(SOURCE)
  expect(placeOf({ ...SOURCE, 'a.ts': 'one\r\ntwo\r\n' })).toBe(place)
  expect(placeOf({ 'worker/b.ts': 'three\n', 'a.ts': 'one\ntwo\n' })).toBe(place)
  expect(placeOf({ ...SOURCE, 'a.test.ts': 'a test' })).toBe(place)
})

test('a changed line, another name or a moved file has seeds that nobody has seen', () => {
  const places = [
    placeOf(SOURCE),
    placeOf({ ...SOURCE, 'a.ts': 'one\nTwo\n' }),
    placeOf({ 'c.ts': SOURCE['a.ts'], 'worker/b.ts': SOURCE['worker/b.ts'] }),
    placeOf({ 'a.ts': SOURCE['a.ts'], 'b.ts': SOURCE['worker/b.ts'] }),
    placeOf({ ...SOURCE, 'empty.ts': '' }),
  ]
  expect(new Set(places).size).toBe(places.length)
})

test('the stores have different seeds, within the 32 bits that choose a world', () => {
  const [memory, sqlite] = [freshRange('memory', 10).from, freshRange('sqlite', 10).from]
  expect(memory + SEEDS_MAX).toBeLessThan(sqlite)
  expect(sqlite + SEEDS_MAX).toBeLessThanOrEqual(SEED_MAX)
})
