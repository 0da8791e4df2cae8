// The picture of who imports whom, and a few habits, as tests. Change the table only together with ARCHITECTURE.md.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** Folder → what it may import: folders of `src`, then packages. '.' is the files directly in `src`. */
const ALLOWED: Record<string, readonly string[]> = {
  model: ['@standard-schema/spec', 'kysely'],
  store: ['model'],
  'store/memory': ['store', 'model'],
  'store/sql': ['store', 'model', 'kysely'],
  events: ['store', 'model'],
  archive: ['events', 'store', 'model'],
  'archive-folder': ['archive', 'node:'],
  worker: ['worker/lease', 'worker/steps', 'events', 'store', 'model'],
  'worker/loop': ['worker', 'worker/lease', 'store', 'model'],
  'worker/lease': ['store', 'model'],
  'worker/steps': ['worker', 'worker/lease', 'events', 'store', 'model'],
  cluster: ['events', 'store', 'model', 'croner', '@cfworker/json-schema', '@standard-schema/spec'],
  logging: ['events', 'model'],
  process: ['.', 'logging', 'store', 'model'],
  runs: ['events', 'store', 'model'],
  client: ['runs', 'events', 'store', 'model'],
  'client/cluster': ['client', 'cluster', 'store', 'model'],
  server: ['.', 'client', 'runs', 'events', 'store', 'model'],
  plugins: ['.', 'events', 'model'],
  otel: ['.', 'runs', 'worker/steps', 'store', 'model', '@opentelemetry/api'],
  tasks: ['.', 'client', 'runs', 'events', 'store', 'model', '@standard-schema/spec'],
  sqlite: ['store', 'store/sql', 'model', 'kysely', '@photostructure/sqlite', 'node:'],
  browser: ['store', 'store/sql', 'model', 'kysely', '@sqlite.org/sqlite-wasm'],
  postgres: ['store', 'store/sql', 'model', 'kysely', 'pg', 'node:'],
  testing: [
    ...[
      '.',
      'plugins',
      'client',
      'runs',
      'worker',
      'worker/lease',
      'worker/loop',
      'worker/steps',
      'cluster',
      'archive',
      'events',
      'store',
      'store/memory',
      'store/sql',
      'model',
    ],
    ...['kysely', '@standard-schema/spec'],
  ],
  '.': [
    'client',
    'runs',
    'worker',
    'worker/loop',
    'worker/steps',
    'cluster',
    'logging',
    'process',
    'archive',
    'events',
    'store',
    'store/memory',
    'store/sql',
    'model',
    'kysely',
    '@standard-schema/spec',
  ],
}

const CLOCKS_AND_CHANCE =
  /\bDate\.now\b|\bnew Date(?!\w)(?!\(\s*[^\s)])|\bMath\.random\b|\bset(?:Timeout|Interval)\b|\bperformance\.now\b|\bcrypto\./
const KNOWS_THE_TIME = 'model/env.ts'
const NAMELESS = /(?:^|\/)(?:utils?|helpers?|common|types?|interfaces?|manager|base)(?:\.ts|\/)/
const SWITCHED_OFF = /@ts-(?:ignore|nocheck)|biome-ignore lint\/suspicious\/noExplicitAny/
const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*$/gm
const IMPORTS = /^\s*(?:import|export)\s+(?:(type)\s+)?(?:[\w$*\s{},]*?\s*from\s*)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm

interface Source {
  path: string
  text: string
  code: string
  imports: { target: string; typeOnly: boolean }[]
}

function read(root: string, path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const code = text.replace(COMMENTS, '')
  const imports = Array.from(code.matchAll(IMPORTS), ([, type, fixed, dynamic]) => ({
    target: resolve(path, fixed ?? dynamic ?? ''),
    typeOnly: type !== undefined,
  }))
  return { path, text, code, imports }
}

function sourcesIn(folder: string): Source[] {
  const root = fileURLToPath(new URL(folder, import.meta.url))
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'))
  return paths.filter((path) => path.endsWith('.ts')).map((path) => read(root, path))
}

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.')
    ? normalize(join(dirname(from), specifier))
        .split(sep)
        .join('/')
    : specifier
}

/** The key of the table for a file of `src`, or the package as the table spells it. */
function layerOf(target: string): string {
  if (target.startsWith('node:')) return 'node:'
  if (!target.endsWith('.ts')) return target
  const folder = dirname(target)
  const known = Object.keys(ALLOWED).filter((key) => folder === key || folder.startsWith(`${key}/`))
  return known.sort((a, b) => b.length - a.length)[0] ?? folder
}

function cycleFrom(start: string, values: Map<string, string[]>, done: Set<string>, path: string[] = []): string[] | null {
  if (path.includes(start)) return [...path.slice(path.indexOf(start)), start]
  if (done.has(start)) return null
  for (const next of values.get(start) ?? []) {
    const cycle = cycleFrom(next, values, done, [...path, start])
    if (cycle) return cycle
  }
  done.add(start)
  return null
}

const all = sourcesIn('../src/')
const sources = all.filter(({ path }) => !path.endsWith('.test.ts'))

describe('architecture', () => {
  test('each folder imports only what the table allows', () => {
    const arrows = sources.flatMap(({ path, imports }) => imports.map(({ target }) => [path, target] as const))
    const wrong = arrows.filter(([path, target]) => layerOf(path) !== layerOf(target) && !ALLOWED[layerOf(path)]?.includes(layerOf(target)))
    expect(arrows.length).toBeGreaterThan(20)
    expect(wrong.map(([path, target]) => `${path} must not import ${target}`)).toStrictEqual([])
  })

  test('the model takes nothing but types from packages', () => {
    const code = sources
      .filter(({ path }) => layerOf(path) === 'model')
      .flatMap(({ path, imports }) =>
        imports.filter(({ target, typeOnly }) => !typeOnly && !target.endsWith('.ts')).map(({ target }) => `${path} → ${target}`),
      )
    expect(code).toStrictEqual([])
  })

  test('no file imports itself by way of others', () => {
    // Types are gone at run time, so only imports of values can make a harmful circle.
    const values = new Map(sources.map(({ path, imports }) => [path, imports.filter((i) => !i.typeOnly).map((i) => i.target)]))
    const done = new Set<string>()
    const cycles = sources.map(({ path }) => cycleFrom(path, values, done)?.join(' → ')).filter(Boolean)
    expect(cycles).toStrictEqual([])
  })

  test('SQLite and Postgres have the same file names, except for what the README of their folder names', () => {
    const namesIn = (database: string) => readdirSync(new URL(`../src/store/sql/${database}/`, import.meta.url))
    const [sqlite, postgres] = [namesIn('sqlite'), namesIn('postgres')]
    const lonely = [
      ...sqlite.filter((name) => !postgres.includes(name)).map((name) => `sqlite/${name}`),
      ...postgres.filter((name) => !sqlite.includes(name)).map((name) => `postgres/${name}`),
    ]
    const page = readFileSync(new URL('../src/store/sql/README.md', import.meta.url), 'utf8')
    expect(sqlite.length).toBeGreaterThan(10)
    expect(lonely.filter((name) => !page.includes(`- \`${name}`))).toStrictEqual([])
  })

  test('nothing but model/env.ts knows the time, sets timers or throws dice', () => {
    const wrong = sources.filter(({ path, code }) => path !== KNOWS_THE_TIME && CLOCKS_AND_CHANCE.test(code))
    expect(wrong.map(({ path, code }) => `${path}: ${CLOCKS_AND_CHANCE.exec(code)?.[0]}`)).toStrictEqual([])
  })
})

const RULE = /\b(?:PG|[A-Z])\d{1,2}[a-c]?\b/g
const RULE_HEAD = /^\s*(?:\/\/|\*|-) +((?:PG|[A-Z])\d{1,2}[a-c]?)\. /gm
/** Invariants have their numbers in docs/proof.md. V8 is an engine. */
const NO_RULE = /^(?:I\d+[a-c]?|V8)$/
const CITED_EVERYWHERE = ['store/store.ts', 'store/owner-write.ts']

const rulesIn = (text: string) => Array.from(text.matchAll(RULE_HEAD), ([, rule = '']) => rule)

describe('tidy', () => {
  test('every file is named after its idea', () => {
    expect(all.filter(({ path }) => NAMELESS.test(path)).map(({ path }) => path)).toStrictEqual([])
  })

  test('every rule that a comment cites can be found from there', () => {
    const page = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8')
    const rules = new Map(sources.map(({ path, text }) => [path, rulesIn(text)]))
    const everywhere = [...rulesIn(page), ...CITED_EVERYWHERE.flatMap((path) => rules.get(path) ?? [])]
    const missing = sources.flatMap(({ path, text, imports }) => {
      const near = sources.filter((other) => dirname(other.path) === dirname(path)).map((other) => other.path)
      const known = [...everywhere, ...[...near, ...imports.map(({ target }) => target)].flatMap((other) => rules.get(other) ?? [])]
      const cited = Array.from(text.matchAll(COMMENTS), ([comment]) => comment.match(RULE) ?? []).flat()
      return cited.filter((rule) => !NO_RULE.test(rule) && !known.includes(rule)).map((rule) => `${path}: ${rule}`)
    })
    expect(everywhere).toContain('R6')
    expect(missing).toStrictEqual([])
  })

  test('no type is switched off', () => {
    const wrong = [...all, ...sourcesIn('./')].filter(({ text, code }) => /(?::|=>?|\bas|<)\s*any\b/.test(code) || SWITCHED_OFF.test(text))
    expect(wrong.map(({ path }) => path)).toStrictEqual([])
  })
})
