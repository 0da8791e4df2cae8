// The thread in which tools work: a virtual shell over the files of one session, and nothing else. It gets the files, does one task, and
// answers with the outcome and the files that changed. It has no environment variables, and its parent ends it when it takes too long.
import { parentPort, workerData } from 'node:worker_threads'
import { Bash } from 'just-bash'
import type { ShellTask } from './definitions.ts'
import { executionLimits, type ShellAnswer, type ShellRequest } from './shell-request.ts'
import { changesSince, placeFiles, WORKSPACE } from './workspace-diff.ts'

const { files, task, timeoutMs } = workerData as ShellRequest
parentPort?.postMessage(await work())

async function work(): Promise<ShellAnswer> {
  const bash = new Bash({ cwd: WORKSPACE, env: { HOME: WORKSPACE }, executionLimits: executionLimits(timeoutMs) })
  await placeFiles(bash.fs, files)
  const { content, isError } = await perform(bash, task).catch((error: Error) => ({ content: error.message, isError: true }))
  const changed = await changesSince(bash.fs, files)
  return 'refused' in changed
    ? { content: `${content}\n${changed.refused}; no file was changed`, isError: true, changes: [] }
    : { content, isError, changes: changed.changes }
}

interface Outcome {
  content: string
  isError: boolean
}

async function perform(bash: Bash, task: ShellTask): Promise<Outcome> {
  switch (task.tool) {
    case 'bash':
      return run(bash, task.args.command)
    case 'read':
      return { content: await bash.fs.readFile(inWorkspace(bash, task.args.path)), isError: false }
    case 'write':
      return write(bash, task.args.path, task.args.content)
    case 'edit':
      return edit(bash, task.args)
    case 'glob_search':
      return run(bash, 'shopt -s globstar nullglob; IFS=; for f in $PATTERN; do [ -f "$f" ] && echo "$f"; done; true', {
        PATTERN: task.args.pattern,
      })
    case 'grep':
      return run(bash, 'grep -rnE -e "$PATTERN" -- "$WHERE" || [ $? = 1 ]', { PATTERN: task.args.pattern, WHERE: task.args.path ?? '.' })
    case 'sql':
      return run(bash, 'sqlite3 -header "$DATABASE" "$QUERY"', { QUERY: task.args.query, DATABASE: task.args.database ?? 'data.db' })
  }
}

async function run(bash: Bash, command: string, env: Record<string, string> = {}): Promise<Outcome> {
  const { stdout, stderr, exitCode } = await bash.exec(command, { env, rawScript: true })
  const failed = exitCode === 0 ? '' : `\n(exit code ${exitCode})`
  return { content: `${stdout}${stderr}${failed}`, isError: exitCode !== 0 }
}

function inWorkspace(bash: Bash, path: string): string {
  const resolved = bash.fs.resolvePath(WORKSPACE, path)
  if (!resolved.startsWith(`${WORKSPACE}/`)) throw new Error(`${path} is outside of the workspace`)
  return resolved
}

async function write(bash: Bash, path: string, content: string): Promise<Outcome> {
  const resolved = inWorkspace(bash, path)
  await bash.fs.mkdir(resolved.slice(0, resolved.lastIndexOf('/')), { recursive: true })
  await bash.fs.writeFile(resolved, content)
  return { content: `Wrote ${Buffer.byteLength(content)} bytes to ${path}.`, isError: false }
}

async function edit(bash: Bash, args: Extract<ShellTask, { tool: 'edit' }>['args']): Promise<Outcome> {
  const resolved = inWorkspace(bash, args.path)
  const text = await bash.fs.readFile(resolved)
  const count = text.split(args.old_string).length - 1
  if (count === 0) throw new Error(`the text does not occur in ${args.path}`)
  if (count > 1 && !args.replace_all) throw new Error(`the text occurs ${count} times in ${args.path}; give more of it, or set replace_all`)
  await bash.fs.writeFile(resolved, text.split(args.old_string).join(args.new_string))
  return { content: `Replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${args.path}.`, isError: false }
}
