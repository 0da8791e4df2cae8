// Who knows what, as in packages/durably: what is observed knows no React, and only one file knows the time.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
const packagesOf = (path: string) => Array.from(readFileSync(join(SRC, path), 'utf8').matchAll(/from '([^.'][^']*)'/g), ([, name]) => name)

test('observe/ imports the client, the rest React too, and nobody anything else', () => {
  const allowed = (path: string) => ['@coji/durably', '@coji/durably/client', ...(path.startsWith('observe') ? [] : ['react'])]
  const wrong = files.flatMap((path) => packagesOf(path).flatMap((name) => (allowed(path).includes(name ?? '') ? [] : `${path} → ${name}`)))
  expect(files.length).toBeGreaterThan(10)
  expect(wrong).toStrictEqual([])
})

test('@coji/durably, the engine, is imported for its types only', () => {
  const wrong = files.filter((path) => /^import (?!type ).* from '@coji\/durably'/m.test(readFileSync(join(SRC, path), 'utf8')))
  expect(wrong).toStrictEqual([])
})

test('only observe/clock.ts sets timers', () => {
  const wrong = files.filter((path) =>
    /\bset(?:Timeout|Interval)\b|\bDate\.now\b|\bnew Date\b|\bMath\.random\b/.test(readFileSync(join(SRC, path), 'utf8')),
  )
  expect(wrong).toStrictEqual([join('observe', 'clock.ts')])
})
