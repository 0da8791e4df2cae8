// Makes a build of the engine with one mutation in its source.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ENGINE_DIST, REPO } from './engine-build.ts'
import type { Mutant, Patch } from './mutants.ts'

const ENGINE = join(REPO, 'packages', 'durably')
/** Inside the package, so that the copy finds the same dependencies. */
const BUILDS = join(ENGINE, '.mutants')

/** Answers the folder of the mutant: the engine as it is built, with the patched files compiled anew. */
export function buildMutant(mutant: Mutant): string {
  const folder = join(BUILDS, mutant.name)
  const dist = join(folder, 'dist')
  rmSync(folder, { recursive: true, force: true })
  cpSync(ENGINE_DIST, dist, { recursive: true, filter: (path) => !/\.(?:d\.ts|map|tsbuildinfo)$/.test(path) })
  for (const one of [mutant, ...(mutant.also ?? [])]) patch(folder, one, mutant.name)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      // What a patched file imports is built already.
      compilerOptions: {
        composite: false,
        declaration: false,
        sourceMap: false,
        noCheck: true,
        noResolve: true,
        rootDir: 'src',
        outDir: 'dist',
      },
      include: ['src'],
      exclude: [],
    }),
  )
  execFileSync(process.execPath, [join(REPO, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], { stdio: 'inherit' })
  return dist
}

export function removeMutants(): void {
  rmSync(BUILDS, { recursive: true, force: true })
}

function patch(folder: string, { file, find, replace }: Patch, name: string): void {
  const patched = join(folder, 'src', file)
  const source = readFileSync(existsSync(patched) ? patched : join(ENGINE, 'src', file), 'utf8')
  const matches = source.split(find).length - 1
  if (matches !== 1) throw new Error(`mutant ${name} must match exactly once in ${file}, it matches ${matches} times`)
  mkdirSync(dirname(patched), { recursive: true })
  writeFileSync(
    patched,
    source.replace(find, () => replace),
  )
}
