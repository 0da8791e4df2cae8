// Does what a model asked a tool for. Whatever goes wrong is an answer for the model, not an error of the run.
import { z } from 'zod'
import type { Limits } from '../config.ts'
import type { FileChange } from '../db/files.ts'
import type { Artifact } from '../wire/session.ts'
import { calculate } from './calculator.ts'
import { isTool, type ShellTask, TOOLS } from './definitions.ts'
import type { Violation } from './inside/request.ts'
import { notify } from './notify.ts'
import type { ToolSandbox } from './sandbox.ts'
import type { ToolConfig } from './tool-config.ts'

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
  violation?: Violation
}

export interface ToolDeps {
  sandbox: ToolSandbox
  /** The tools that the model was told of. */
  offered: readonly string[]
  notifyUrl: ToolConfig['notifyUrl']
  limits: Pick<Limits, 'toolMs' | 'toolOutputBytes'>
  /** Test command: kills this process, as a crash would. */
  allowCrash: boolean
  /** Keeps what is too long to be returned. */
  store: (content: string) => Promise<Artifact>
  loadWorkspace: () => Promise<ReadonlyMap<string, Uint8Array>>
  /** The same for every attempt of this call. */
  idempotencyKey: string
  signal: AbortSignal
}

export async function runTool({ tool, args }: ToolRequest, deps: ToolDeps): Promise<ToolOutcome> {
  const { offered, limits, signal } = deps
  if (tool === 'crash_worker' && deps.allowCrash) process.kill(process.pid, 'SIGKILL')
  if (!isTool(tool) || !offered.includes(tool)) return failed(`There is no tool ${JSON.stringify(tool)}. There are: ${offered.join(', ')}.`)
  const checked = TOOLS[tool].input.safeParse(args)
  if (!checked.success) return failed(`The arguments of ${tool} are not valid: ${z.prettifyError(checked.error)}`)
  if (tool === 'calculator') return calculated(TOOLS.calculator.input.parse(args).expression)
  if (tool === 'notify') return notified(TOOLS.notify.input.parse(args).text, deps)
  const task = { tool, args: checked.data } as ShellTask
  const answer = await deps.sandbox.run({ files: await deps.loadWorkspace(), task, timeoutMs: limits.toolMs }, signal)
  const { content, truncated } = cut(answer.content, limits.toolOutputBytes)
  return { ...answer, content, truncated, ...(truncated && { artifact: await deps.store(answer.content) }) }
}

function calculated(expression: string): ToolOutcome {
  try {
    return { content: String(calculate(expression)), isError: false, truncated: false, changes: [] }
  } catch (error) {
    return failed(`This cannot be calculated: ${error instanceof Error ? error.message : error}.`)
  }
}

async function notified(text: string, { notifyUrl, idempotencyKey, limits, signal }: ToolDeps): Promise<ToolOutcome> {
  if (notifyUrl === undefined) return failed('Messages cannot be sent from here any more.')
  const outcome = await notify({ url: notifyUrl, text, idempotencyKey, timeoutMs: limits.toolMs, signal })
  return { ...outcome, truncated: false, changes: [] }
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
