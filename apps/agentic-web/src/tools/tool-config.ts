// What the environment says about tools: where they work, which of them there are, and which need somebody's approval.
import { positive } from '../positive.ts'
import { isTool, TOOLS, type ToolName } from './definitions.ts'
import type { SandboxName } from './sandbox.ts'

export interface ToolConfig {
  sandbox: SandboxName
  /** The user as which isolated tools run if the worker is root. */
  sandboxUid: number | undefined
  memoryMb: number
  processes: number
  /** In the order in which models get them. */
  offered: readonly ToolName[]
  needApproval: readonly ToolName[]
  /** How long a run waits for somebody to decide. */
  approvalMs: number
  /** Where `notify` sends its messages; without it there is no such tool. */
  notifyUrl: string | undefined
}

type Env = Readonly<Record<string, string | undefined>>

const SANDBOXES: readonly string[] = ['virtual', 'bubblewrap', 'none'] satisfies SandboxName[]
const WEEK_MS = 7 * 86_400_000

export function readToolConfig(env: Env, isProd: boolean): ToolConfig {
  const sandbox = sandboxOf(env.SANDBOX || (isProd ? 'bubblewrap' : 'virtual'))
  if (isProd && sandbox === 'virtual')
    throw new Error('SANDBOX=virtual does not isolate tools, and is for PROFILE=dev-local only; use SANDBOX=bubblewrap, or SANDBOX=none')
  const notifyUrl = env.NOTIFY_URL || undefined
  if (notifyUrl !== undefined && !URL.canParse(notifyUrl)) throw new Error(`NOTIFY_URL is no URL: ${JSON.stringify(notifyUrl)}`)
  const offered = offeredTools(sandbox, { hasRealShell: env.ALLOW_BASH === '1', notifyUrl })
  const byDefault = sandbox === 'bubblewrap' ? 'bash,notify' : 'notify'
  return {
    sandbox,
    notifyUrl,
    offered,
    sandboxUid: env.SANDBOX_UID ? positive(env, 'SANDBOX_UID', 0) : undefined,
    memoryMb: positive(env, 'TOOL_MEMORY_MB', 512),
    processes: positive(env, 'TOOL_PROCESSES', 96),
    needApproval: toolsIn(env.APPROVE_TOOLS ?? byDefault).filter((tool) => offered.includes(tool)),
    approvalMs: positive(env, 'APPROVAL_TIMEOUT_MS', WEEK_MS),
  }
}

function sandboxOf(name: string): SandboxName {
  if (!SANDBOXES.includes(name)) throw new Error(`SANDBOX must be ${SANDBOXES.join(', ')}, got ${JSON.stringify(name)}`)
  return name as SandboxName
}

function offeredTools(
  sandbox: SandboxName,
  { hasRealShell, notifyUrl }: { hasRealShell: boolean; notifyUrl: string | undefined },
): ToolName[] {
  return (Object.keys(TOOLS) as ToolName[]).filter((tool) => {
    if (tool === 'notify') return notifyUrl !== undefined
    if (tool === 'calculator') return true
    // In an isolated process `bash` is a real shell, which somebody must have wanted.
    return sandbox === 'virtual' || (sandbox === 'bubblewrap' && (tool !== 'bash' || hasRealShell))
  })
}

function toolsIn(list: string): ToolName[] {
  const names = list.split(',').map((name) => name.trim())
  return names
    .filter((name) => name !== '')
    .map((name) => {
      if (!isTool(name))
        throw new Error(`APPROVE_TOOLS: there is no tool ${JSON.stringify(name)}; there are ${Object.keys(TOOLS).join(', ')}`)
      return name
    })
}
