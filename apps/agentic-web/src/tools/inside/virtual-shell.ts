// Does one task in a virtual shell over the files of one session: an interpreter of shell scripts that has no other files, no programs and no
// network. It answers with the outcome and with the files that changed.
import { Bash, type BashOptions } from 'just-bash'
import type { ShellTask } from '../definitions.ts'
import { changesBetween, keepable } from './file-changes.ts'
import type { SandboxAnswer, SandboxRequest, Violation } from './request.ts'
import { placeFiles, readFiles, WORKSPACE } from './virtual-files.ts'
import { OUTPUT_BYTES_MAX, WORKSPACE_BYTES_MAX } from './workspace-limits.ts'

export async function workVirtually({ files, task, timeoutMs }: SandboxRequest): Promise<SandboxAnswer> {
  const bash = new Bash({ cwd: WORKSPACE, env: { HOME: WORKSPACE }, executionLimits: executionLimits(timeoutMs) })
  await placeFiles(bash.fs, files)
  const outcome = await perform(bash, task).catch(refused)
  return keepable(files, { ...outcome, changes: changesBetween(files, await readFiles(bash.fs)) })
}

/** The shell stops by itself; whoever started this ends it only if it does not. */
function executionLimits(timeoutMs: number): NonNullable<BashOptions['executionLimits']> {
  return {
    maxExecutionTimeMs: timeoutMs,
    maxSqliteTimeoutMs: timeoutMs,
    maxOutputSize: OUTPUT_BYTES_MAX,
    maxStringLength: OUTPUT_BYTES_MAX,
    maxLiveBytes: 8 * OUTPUT_BYTES_MAX,
    maxFileSystemBytes: 2 * WORKSPACE_BYTES_MAX,
    maxDatabaseBytes: WORKSPACE_BYTES_MAX,
    maxArchiveBytes: WORKSPACE_BYTES_MAX,
  }
}

type Outcome = Omit<SandboxAnswer, 'changes'>

class Outside extends Error {}

function refused(error: Error): Outcome {
  const outcome = { content: error.message, isError: true }
  return error instanceof Outside ? { ...outcome, violation: { kind: 'outside', message: error.message } } : outcome
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
  const violation = violationOf(exitCode, stderr)
  return { content: `${stdout}${stderr}${failed}`, isError: exitCode !== 0, ...(violation && { violation }) }
}

/** With these codes the virtual shell says that it stopped a command at a limit, and the last line says at which. */
function violationOf(exitCode: number, stderr: string): Violation | undefined {
  if ((exitCode !== 124 && exitCode !== 126) || !/exceeded/.test(stderr)) return undefined
  const last = stderr.trimEnd().split('\n').at(-1) ?? ''
  return { kind: exitCode === 124 ? 'time' : 'limit', message: last.slice(0, 300) }
}

function inWorkspace(bash: Bash, path: string): string {
  const resolved = bash.fs.resolvePath(WORKSPACE, path)
  if (!resolved.startsWith(`${WORKSPACE}/`)) throw new Outside(`${path} is outside of the workspace`)
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
