// A job file: a module whose default export defines jobs on the instance that it is given.
import { existsSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Durably } from '@coji/durably'
import { CliError, EXIT } from './exit-code.ts'

/**
 * What a job file exports as its default. It may also make schedules: the tables are there when it is called.
 *
 * @example export default (durably: Durably) => durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, async (ctx, { name }) => …)
 */
export type JobFile = (durably: Durably) => unknown

const TYPESCRIPT: readonly string[] = ['.ts', '.mts', '.cts', '.tsx']
export const JOB_FILE_EXTENSIONS: readonly string[] = [...TYPESCRIPT, '.js', '.mjs', '.cjs']

/** The jobs of a file that the user has named. */
export async function loadJobFile(path: string): Promise<JobFile> {
  const file = await loadFoundFile(path)
  if (file) return file
  throw new CliError(`${path} has no default export that is a function: export default (durably) => { durably.defineJob(…) }`, EXIT.usage)
}

/** The same of a file that lies among job files: null if it is none of them. */
export async function loadFoundFile(path: string): Promise<JobFile | null> {
  const file = resolve(path)
  if (!existsSync(file)) throw new CliError(`there is no file ${JSON.stringify(path)}`, EXIT.usage)
  if (statSync(file).isDirectory()) throw new CliError(`${JSON.stringify(path)} is a folder; name a file in it`, EXIT.usage)
  if (!JOB_FILE_EXTENSIONS.includes(extname(file)))
    throw new CliError(`${JSON.stringify(path)} is not a job file: its name must end in ${JOB_FILE_EXTENSIONS.join(', ')}`, EXIT.usage)
  if (TYPESCRIPT.includes(extname(file))) await understandTypeScript()
  const module = (await import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw new CliError(`${path} cannot be loaded: ${cause instanceof Error ? ownStack(cause) : String(cause)}`)
  })) as { default?: unknown }
  // What a CommonJS module exports is the default of its import, and its own default is inside.
  const exported = [module.default, (module.default as { default?: unknown } | undefined)?.default]
  return (exported.find((one) => typeof one === 'function') as JobFile | undefined) ?? null
}

/** Returns the names of the jobs that the file has defined. */
export async function defineJobs(durably: Durably, file: JobFile): Promise<string[]> {
  const before = new Set(durably.jobs.keys())
  await file(durably)
  return [...durably.jobs.keys()].filter((name) => !before.has(name))
}

/** The stack without what loads the file: the reader wants the line of the file. */
function ownStack({ stack, message }: Error): string {
  const lines = (stack ?? message).split('\n')
  return lines.filter((line) => !/^\s+at /.test(line) || !FOREIGN.some((part) => line.includes(part))).join('\n')
}

const FOREIGN = ['node:internal', '/tsx/dist/', new URL('.', import.meta.url).href]

let understood: Promise<unknown> | undefined

function understandTypeScript(): Promise<unknown> {
  understood ??= registerTsx()
  return understood
}

/** Both, because a file below a package.json without `"type": "module"`, or below none, is a CommonJS module: Node loads it with `require`. */
async function registerTsx(): Promise<void> {
  const [commonJs, modules] = await Promise.all([import('tsx/cjs/api'), import('tsx/esm/api')])
  commonJs.register()
  modules.register()
}
