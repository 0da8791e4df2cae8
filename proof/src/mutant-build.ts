// Makes a build of the engine with one mutation in its source.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPO } from './engine-build.ts'
import type { Mutant, Patch } from './mutants.ts'

const ENGINE = join(REPO, 'packages', 'durably')
/** Inside the package, so that the copy finds the same dependencies. */
const BUILDS = join(ENGINE, '.mutants')

/** Answers the folder of the compiled mutant. */
export function buildMutant(mutant: Mutant): string {
  const folder = join(BUILDS, mutant.name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(ENGINE, 'src'), join(folder, 'src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  for (const one of [mutant, ...(mutant.also ?? [])]) patch(join(folder, 'src', one.file), one, mutant.name)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { composite: false, declaration: false, sourceMap: false, noCheck: true, rootDir: 'src', outDir: 'dist' },
      include: ['src'],
      exclude: [],
    }),
  )
  execFileSync(process.execPath, [join(REPO, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], { stdio: 'inherit' })
  return join(folder, 'dist')
}

export function removeMutants(): void {
  rmSync(BUILDS, { recursive: true, force: true })
}

function patch(file: string, { find, replace }: Patch, name: string): void {
  const source = readFileSync(file, 'utf8')
  const matches = source.split(find).length - 1
  if (matches !== 1) throw new Error(`mutant ${name} must match exactly once in ${file}, it matches ${matches} times`)
  writeFileSync(
    file,
    source.replace(find, () => replace),
  )
}
