// What would be published: it is complete, its types fit every resolution, and the program of the README runs where it is installed.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REPO } from '../engine-build.ts'
import { execute } from './execute.ts'
import { firstProgram, PACKAGES, type PackedProject, packedProject } from './packed-project.ts'

const TOOLS = join(REPO, 'node_modules')
/** zod 3: an install beside it must not fail. */
const OPEN_TELEMETRY = [
  '@opentelemetry/api',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/sdk-metrics',
]
const BESIDE = ['kysely', 'zod3', 'react', '@types/node', '@types/react', ...OPEN_TELEMETRY]

let project: PackedProject

beforeAll(async () => {
  project = await packedProject(BESIDE)
}, 120_000)

afterAll(() => project?.remove(), 120_000)

const node = (...args: string[]) => execute(process.execPath, ['--no-warnings', ...args], project.folder)

function subpaths(): string[] {
  return PACKAGES.flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(REPO, 'packages', name, 'package.json'), 'utf8')) as { exports: object; name: string }
    return Object.keys(manifest.exports).map((path) => manifest.name + path.slice(1))
  }).filter((path) => !path.endsWith('/package.json'))
}

describe.each(PACKAGES.map((name, i) => ({ name, i })))('the tarball of $name', ({ name, i }) => {
  const tarball = () => project.tarballs[i] ?? ''

  test('has the licence and complete source maps, and no notes of the compiler', async () => {
    const files = (await execute('tar', ['-tf', tarball()], project.folder)).trim().split('\n')
    expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/dist/index.d.ts']))
    expect(files.filter((file) => /tsbuildinfo|\.test\.|\/src\//.test(file))).toEqual([])
    expect(readFileSync(join(REPO, 'packages', name, 'LICENSE'), 'utf8')).toBe(readFileSync(join(REPO, 'LICENSE'), 'utf8'))
    const installed = join(project.folder, 'node_modules/@coji', name)
    const maps = files.filter((file) => file.endsWith('.map')).map((file) => join(installed, file.slice('package/'.length)))
    expect(maps.length).toBeGreaterThan(10)
    const sourcesOf = (map: string) => (JSON.parse(readFileSync(map, 'utf8')) as { sourcesContent?: string[] }).sourcesContent
    expect(maps.filter((map) => !sourcesOf(map)?.every((source) => source.length > 0))).toEqual([])
  })

  test('has exactly the modules of the source, none of an older build', async () => {
    const files = (await execute('tar', ['-tf', tarball()], project.folder)).trim().split('\n')
    const modules = files.flatMap((file) => /^package\/dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
    const sources = readdirSync(join(REPO, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('.test.'))
      // A declaration alone is that of a module which the build writes.
      .map((file) => file.replace(/(?:\.d)?\.tsx?$/, ''))
    expect(modules.sort()).toEqual(sources.sort())
  })

  test('publint and attw find nothing', async () => {
    expect(await execute(process.execPath, [join(TOOLS, 'publint/src/cli.js'), 'run', tarball(), '--strict'], REPO)).toContain('All good!')
    await execute(process.execPath, [join(TOOLS, '@arethetypeswrong/cli/dist/index.js'), tarball(), '--profile', 'esm-only'], REPO)
  })
})

/** A reader may paste these into an empty project. */
const PAGES = ['README.md', 'README.ja.md', 'packages/durably/README.md', ...guides()].flatMap((page) => {
  const program = firstProgram(page)
  return program ? [{ page, name: page.replaceAll(/\W+/g, '-'), ...program }] : []
})

/** Without those of the agent chat: they are about an application of this repository, and not about a package that is installed. */
function guides(): string[] {
  const files = readdirSync(join(REPO, 'docs/guides')).filter((file) => !file.includes('agentic-web'))
  return files.map((file) => join('docs/guides', file))
}

describe('the first program of each page', () => {
  beforeAll(async () => {
    const folder = join(project.folder, 'pages')
    mkdirSync(folder)
    for (const { name, code } of PAGES) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {}\n`)
    const compilerOptions = { module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], strict: true, outDir: 'out' }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await execute(process.execPath, [join(TOOLS, 'typescript/bin/tsc'), '-p', folder], folder)
  }, 60_000)

  test('is one that runs in Node, but for few pages', () => {
    expect(guides().length + 3 - PAGES.length).toBeLessThanOrEqual(4)
  })

  test.concurrent.each(PAGES)('of $page runs in an empty project', { timeout: 60_000 }, async ({ name, prints }) => {
    const folder = mkdtempSync(join(project.folder, 'program-'))
    const printed = await execute(process.execPath, ['--no-warnings', join(project.folder, 'pages/out', `${name}.js`)], folder)
    expect(printed).toBe(prints)
  })
})

test('every subpath can be imported and required', async () => {
  const paths = JSON.stringify(subpaths())
  writeFileSync(join(project.folder, 'import.mjs'), `for (const path of ${paths}) console.log(Object.keys(await import(path)).length > 0)`)
  writeFileSync(join(project.folder, 'require.cjs'), `for (const path of ${paths}) console.log(Object.keys(require(path)).length > 0)`)
  const all = subpaths().map(() => 'true')
  expect((await node('import.mjs')).trim().split('\n')).toEqual(all)
  expect((await node('require.cjs')).trim().split('\n')).toEqual(all)
})

test.each([
  ['bundler', 'esnext'],
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
])('the types compile without the DOM, and with skipLibCheck off: %s', async (moduleResolution, module) => {
  const folder = mkdtempSync(join(project.folder, 'types-'))
  const compilerOptions = {
    ...{ module, moduleResolution, target: 'es2022', lib: ['es2022'], types: ['node'] },
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const lines = subpaths()
    .filter((path) => path !== IN_A_PAGE)
    .map((path, i) => `export * as part${i} from '${path}'`)
  writeFileSync(join(folder, 'program.ts'), `${firstProgram('README.md')?.code}\n${lines.join('\n')}\n`)
  expect(await execute(process.execPath, [join(TOOLS, 'typescript/bin/tsc'), '-p', folder], folder)).toBe('')
})

/** Its element is one of the DOM. */
const IN_A_PAGE = '@coji/durably-ui'

test('the types of the dashboard compile with the DOM, and with skipLibCheck off', async () => {
  const folder = mkdtempSync(join(project.folder, 'types-'))
  const compilerOptions = {
    ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2022', lib: ['es2022', 'dom'], types: [] },
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const program = `import { httpClient } from '@coji/durably/client'
import { createDashboard } from '${IN_A_PAGE}'
document.body.append(createDashboard({ client: httpClient({ url: '/api' }) }))
const element = document.querySelector('durably-dashboard')
if (element) element.theme = 'dark'
`
  writeFileSync(join(folder, 'program.ts'), program)
  expect(await execute(process.execPath, [join(TOOLS, 'typescript/bin/tsc'), '-p', folder], folder)).toBe('')
})
