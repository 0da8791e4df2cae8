// Real processes. Node 20 runs no TypeScript, so the fixture is bundled once into a directory that git ignores.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

export interface Task {
  driver: string
  /** Or the URL of a database. */
  file: string
  act: 'migrate' | 'claim'
}

export type Answer = { ids: string[] } | { error: string }

const FIXTURE = fileURLToPath(new URL('./fixtures/child.ts', import.meta.url))

/** Each test file bundles its own, so that two running at once do not overwrite each other's. */
export async function bundleChild(name: string, fixture = FIXTURE): Promise<string> {
  const outDir = fileURLToPath(new URL(`../../.tmp/sql-${name}`, import.meta.url))
  await build({
    configFile: false,
    logLevel: 'error',
    // Kysely is hundreds of files: to read them is most of what a short process does.
    ssr: { noExternal: ['kysely', 'zod'] },
    build: { ssr: fixture, outDir, emptyOutDir: true, rollupOptions: { output: { entryFileNames: 'child.mjs' } } },
  })
  return `${outDir}/child.mjs`
}

export interface ProcessOptions {
  uid?: number
  gid?: number
}

/** Starts all of them, lets them begin at the same moment, and returns what they say. */
export async function inProcesses(bundle: string, tasks: readonly Task[], options: ProcessOptions = {}): Promise<Answer[]> {
  const children = tasks.map(() => fork(bundle, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...options }))
  try {
    await Promise.all(children.map((child) => once(child, 'message')))
    return await Promise.all(children.map((child, i) => ask(child, tasks[i])))
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function ask(child: ChildProcess, task: Task | undefined): Promise<Answer> {
  const answer = once(child, 'message')
  const exit = once(child, 'exit').then(([code, signal]) => [{ error: `the process ended with ${code ?? signal}` }])
  child.send(task as Task)
  const [message] = await Promise.race([answer, exit])
  return message as Answer
}
