// Makes a build of the engine with one mutation in its source. Bundled: loading one file takes a fraction of the time that the
// engine's and Kysely's many files take, and there are many mutants.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { REPO } from './engine-build.ts'
import type { Mutant, Patch } from './mutants/mutant.ts'

const ENGINE = join(REPO, 'packages', 'durably')
const SOURCE = join(ENGINE, 'src')
/** Inside the package, so that the drivers, which are not bundled, are found. */
const BUILDS = join(ENGINE, '.mutants')
const DRIVERS = ['@photostructure/sqlite', 'pg']

/** What the proofs load of an engine, under the names that it has in the engine's own build. */
const ENTRIES = [
  ...['index', 'plugins/index', 'postgres/index', 'sqlite/index', 'store/sql/sql-store'],
  ...['testing/simulator/shrink', 'testing/simulator/simulate', 'testing/simulator/sql-worlds'],
]

export interface MutantBuild {
  /** The folder that takes the place of the engine's `dist`. */
  dist: string
  remove(): void
}

export async function buildMutant(mutant: Mutant): Promise<MutantBuild> {
  mkdirSync(BUILDS, { recursive: true })
  const dist = mkdtempSync(join(BUILDS, `${mutant.name}-`))
  await build({
    root: SOURCE,
    configFile: false,
    logLevel: 'error',
    plugins: [patched(mutant)],
    ssr: { noExternal: true, external: DRIVERS },
    build: {
      ssr: true,
      outDir: dist,
      emptyOutDir: false,
      target: 'esnext',
      minify: false,
      rollupOptions: {
        input: Object.fromEntries(ENTRIES.map((name) => [name, join(SOURCE, `${name}.ts`)])),
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  return { dist, remove: () => rmSync(dist, { recursive: true, force: true }) }
}

function patched(mutant: Mutant): Plugin {
  const sources = patchedSources(mutant)
  return {
    name: 'mutant',
    enforce: 'pre',
    load(id) {
      const source = sources.get(id)
      sources.delete(id)
      return source
    },
    buildEnd(error) {
      if (!error && sources.size > 0) throw new Error(`mutant ${mutant.name} patches what no proof loads: ${[...sources.keys()]}`)
    },
  }
}

/** By the path of the file. */
export function patchedSources(mutant: Mutant): Map<string, string> {
  const sources = new Map<string, string>()
  for (const { file, find, replace } of [mutant, ...(mutant.also ?? [])] satisfies Patch[]) {
    const path = join(SOURCE, file)
    const source = sources.get(path) ?? readFileSync(path, 'utf8')
    const matches = source.split(find).length - 1
    if (matches !== 1) throw new Error(`mutant ${mutant.name} must match exactly once in ${file}, it matches ${matches} times`)
    sources.set(
      path,
      source.replace(find, () => replace),
    )
  }
  return sources
}
