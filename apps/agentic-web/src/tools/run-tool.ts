// Does what a model asked a tool for. Whatever goes wrong is an answer for the model, not an error of the run.
import { z } from 'zod'
import type { Limits } from '../config.ts'
import type { FileChange } from '../db/files.ts'
import type { Artifact } from '../wire/session.ts'
import { calculate } from './calculator.ts'
import { type ShellTask, TOOLS, type ToolName } from './definitions.ts'
import { runInShell } from './shell.ts'

export interface ToolRequest {
  tool: string
  args: unknown
}

export interface ToolOutcome {
  content: string
  isError: boolean
  /** `content` is only the beginning. */
  truncated: boolean
  /** Where the whole of it is, if it was truncated. */
  artifact?: Artifact
  changes: FileChange[]
}

export interface ToolDeps {
  limits: Pick<Limits, 'toolMs' | 'toolOutputBytes'>
  /** Test command: kills this process, as a crash would. */
  allowCrash: boolean
  /** Keeps what is too long to be returned. */
  store: (content: string) => Promise<Artifact>
  loadWorkspace: () => Promise<ReadonlyMap<string, Uint8Array>>
  signal: AbortSignal
}

export async function runTool({ tool, args }: ToolRequest, deps: ToolDeps): Promise<ToolOutcome> {
  if (tool === 'crash_worker' && deps.allowCrash) process.kill(process.pid, 'SIGKILL')
  if (!isTool(tool)) return failed(`There is no tool ${JSON.stringify(tool)}. There are: ${Object.keys(TOOLS).join(', ')}.`)
  const checked = TOOLS[tool].input.safeParse(args)
  if (!checked.success) return failed(`The arguments of ${tool} are not valid: ${z.prettifyError(checked.error)}`)
  if (tool === 'calculator') return calculated(TOOLS.calculator.input.parse(args).expression)
  const task = { tool, args: checked.data } as ShellTask
  const { limits, signal } = deps
  const answer = await runInShell({ files: await deps.loadWorkspace(), task, timeoutMs: limits.toolMs }, signal)
  const { content, truncated } = cut(answer.content, limits.toolOutputBytes)
  return { ...answer, content, truncated, ...(truncated && { artifact: await deps.store(answer.content) }) }
}

function isTool(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name)
}

function calculated(expression: string): ToolOutcome {
  try {
    return { content: String(calculate(expression)), isError: false, truncated: false, changes: [] }
  } catch (error) {
    return failed(`This cannot be calculated: ${error instanceof Error ? error.message : error}.`)
  }
}

function failed(content: string): ToolOutcome {
  return { content, isError: true, truncated: false, changes: [] }
}

function cut(content: string, bytesMax: number): { content: string; truncated: boolean } {
  const bytes = Buffer.from(content)
  if (bytes.length <= bytesMax) return { content, truncated: false }
  // A character that is cut in half at the end becomes U+FFFD, which is dropped.
  const kept = bytes
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
  return { content: `${kept}\n… (${bytes.length} bytes in all)`, truncated: true }
}
