// The packed packages and the program of the README on other runtimes, each of which npm installs.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute, npm } from './execute.ts'
import { firstProgram, type PackedProject, packedProject } from './packed-project.ts'

export interface RanOn {
  runtime: string
  version: string
  /** Empty if the program printed what the README says. */
  wrong: string
}

interface Runtime {
  runtime: string
  /** Its package, and its executable in `node_modules`. */
  spec: string
  executable: string
  args: string[]
}

const PLATFORM = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

function node(major: number): Runtime {
  const spec = `node${major}@npm:node-${PLATFORM}@${major}`
  return { runtime: `Node ${major}`, spec, executable: `node${major}/bin/node`, args: ['--no-warnings'] }
}

const RUNTIMES: Runtime[] = [
  ...[20, 22, 24].map(node),
  { runtime: 'Bun', spec: 'bun', executable: '.bin/bun', args: ['run'] },
  { runtime: 'Deno', spec: 'deno', executable: '.bin/deno', args: ['run', '--allow-all', '--quiet'] },
]

export async function tryRuntimes(): Promise<RanOn[]> {
  const project = await packedProject(['kysely', 'zod'])
  try {
    await install(project, RUNTIMES)
    const found: RanOn[] = []
    for (const runtime of RUNTIMES) found.push(await tryOn(project, runtime))
    return found
  } finally {
    project.remove()
  }
}

async function install({ folder }: PackedProject, runtimes: readonly Runtime[]): Promise<void> {
  const path = join(folder, 'package.json')
  // Bun and Deno put their executables in place by a script.
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), allowScripts: { bun: true, deno: true } }))
  await npm(['install', '--no-audit', '--no-fund', ...runtimes.map(({ spec }) => spec)], folder)
}

const readme = firstProgram('README.md') ?? { code: '', prints: '' }

async function tryOn({ folder }: PackedProject, { runtime, executable, args }: Runtime): Promise<RanOn> {
  const program = join(folder, 'node_modules', executable)
  const [version = ''] = /v?\d[\d.]*/.exec(await execute(program, ['--version'], folder)) ?? []
  const { code, prints } = readme
  const place = mkdtempSync(join(folder, 'program-'))
  writeFileSync(join(place, 'program.js'), code)
  try {
    const printed = await execute(program, [...args, 'program.js'], place)
    return { runtime, version, wrong: words(printed) === words(prints) ? '' : `it printed ${JSON.stringify(printed)}` }
  } catch (error) {
    return { runtime, version, wrong: String(error) }
  }
}

/** Each runtime has its own way to lay out an object that is printed. */
function words(printed: string): string {
  return printed.replaceAll(/[\s,]/g, '')
}
