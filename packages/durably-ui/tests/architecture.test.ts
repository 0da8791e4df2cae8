// Who knows what: state and pure functions know no templates, and only one file knows the time.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
const textOf = (path: string) => readFileSync(join(SRC, path), 'utf8')

const PURE = ['timeline/', 'figures/', 'words/', 'search/', 'values/', 'route.ts', 'form/form-field.ts', 'form/read-input.ts']
const isIn = (places: readonly string[]) => (path: string) => places.some((place) => path.startsWith(place))

test('state and pure functions import no templates', () => {
  const plain = files.filter(isIn([...PURE, 'state/']))
  expect(plain.length).toBeGreaterThan(20)
  expect(plain.filter((path) => /from 'lit|\/(?:parts|views|dialogs)\//.test(textOf(path)))).toEqual([])
})

test('only the client of the engine is imported', () => {
  const wrong = files.filter((path) => /from '@coji\/durably(?!\/client(?:\/cluster)?')/.test(textOf(path)))
  expect(wrong).toEqual([])
})

test('only state/clock.ts sets timers and reads the clock', () => {
  const wrong = files.filter((path) => /\bset(?:Timeout|Interval)\b|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b/.test(textOf(path)))
  expect(wrong).toEqual([join('state', 'clock.ts')])
})

test('nothing gets around the escaping of templates', () => {
  const wrong = files.filter((path) => /unsafe(?:HTML|SVG|Static)|innerHTML|insertAdjacentHTML|document\.write|\beval\b/.test(textOf(path)))
  expect(wrong).toEqual([])
})
