// Every regular expression of the packages takes time that grows with its input and not with its square: what stands before `authorize`
// would let anybody hold the event loop. Texts that match are pumped up somewhere and end wrong; who is not linear does not come back.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'

const PACKAGES = fileURLToPath(new URL('../../', import.meta.url))
const LENGTH = 200_000
/** A linear one needs less than a second for all of its texts; a quadratic one half a minute and more for each. */
const KILL_MS = 20_000

interface Found {
  path: string
  pattern: string
  flags: string
}

function sources(): string[] {
  return readdirSync(PACKAGES).flatMap((name) => {
    const src = join(PACKAGES, name, 'src')
    const paths = readdirSync(src, { recursive: true, encoding: 'utf8' })
    return paths.filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path)).map((path) => join(src, path))
  })
}

/** The nodes of a syntax tree, wherever they stand in it. */
function nodesOf(tree: unknown): Record<string, unknown>[] {
  if (typeof tree !== 'object' || tree === null) return []
  const inner = Object.values(tree).flatMap(nodesOf)
  return 'type' in tree ? [tree as Record<string, unknown>, ...inner] : inner
}

function nodesIn(path: string) {
  return nodesOf(parseSync(path, readFileSync(path, 'utf8')).program)
}

function regexesIn(path: string): Found[] {
  return nodesIn(path).flatMap(({ regex }) => (regex ? { path: path.slice(PACKAGES.length), ...(regex as Omit<Found, 'path'>) } : []))
}

/** What looks around itself takes nothing of a text; what looks back at a group may be left out of it. */
function matching(pattern: string, flags: string): string[] {
  const taking = pattern.replace(/\\b|\\\d|\(\?<?[=!][^()]*\)/g, '')
  return fc.sample(fc.stringMatching(new RegExp(taking, flags.includes('u') ? 'u' : ''), { size: 'xsmall' }), { seed: 1, numRuns: 8 })
}

/** Runs in a process of its own, because nothing else can be stopped. */
const PROGRAM = `
  const [pattern, flags, texts, length] = JSON.parse(process.argv[1])
  const regex = new RegExp(pattern, flags)
  const tried = new Set()
  for (const text of texts)
    for (let at = 0; at < text.length; at++)
      for (const pump of [text.slice(at, at + 1), text.slice(at, at + 2)])
        for (const end of ['\\0', '\\n', 'x'])
          tried.add(text.slice(0, at) + pump.repeat(length / pump.length) + end)
  for (const text of tried) text.replace(regex, '')
  console.log(tried.size)
`

async function isLinear({ pattern, flags }: Omit<Found, 'path'>, killMs = KILL_MS): Promise<boolean> {
  const input = JSON.stringify([pattern, flags, matching(pattern, flags), LENGTH])
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', PROGRAM, input], { timeout: killMs, killSignal: 'SIGKILL' })
    return Number(stdout) > 0
  } catch (error) {
    if ((error as { killed?: boolean }).killed) return false
    throw error
  }
}

const found = sources().flatMap(regexesIn)

test.each(found)('$path: /$pattern/$flags', { timeout: 2 * KILL_MS }, async (regex) => {
  expect(await isLinear(regex)).toBe(true)
})

test('all of them are seen: none is put together when the program runs', () => {
  expect(found.length).toBeGreaterThan(20)
  const made = sources().filter((path) =>
    nodesIn(path).some(
      ({ type, callee }) => /^(New|Call)Expression$/.test(type as string) && (callee as { name?: string }).name === 'RegExp',
    ),
  )
  expect(made).toStrictEqual([])
})

test.each(['\\/+$', '^\\s*a\\s*(;\\s*b\\s*)?;?\\s*$', '^(a|a)*$', '(.*)=(.*)!'])(
  'one that is not linear is noticed: /%s/',
  async (pattern) => {
    expect(await isLinear({ pattern, flags: '' }, 2000)).toBe(false)
  },
)
