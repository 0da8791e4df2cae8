// One call of a tool, as a recorded step.
//   U1. A tool that needs approval begins only after somebody approved it; otherwise the refusal is its recorded result.
//   U2. A tool that acts outside of the workspace is called at most once. If its worker is lost meanwhile, nobody knows whether it acted: that
//       is its recorded result, and the run ends with `tool_in_doubt`.
//   U3. All other tools may be repeated: they change nothing but what their recorded result says.
//   U4. No secret of the run is in what a tool leaves behind: its result, its files, its log line.
import type { JobContext, StepContext, StepOptions } from '@coji/durably'
import type { App } from '../app.ts'
import { storeArtifact } from '../db/artifacts.ts'
import { type FileChange, loadWorkspace } from '../db/files.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { actsOutside, isTool, TOOLS, type ToolName } from '../tools/definitions.ts'
import { runTool } from '../tools/run-tool.ts'
import type { ToolCallPart, ToolResultPart } from '../wire/session.ts'
import type { RunInput } from './agent-run.ts'
import { askSomebody, refusalOf } from './approval.ts'
import { withinQuota, withinQuotaText } from './quota.ts'

/** As the configuration said when the run began: a worker that takes over goes the same way. */
export interface RunTools {
  offered: readonly ToolName[]
  needApproval: readonly ToolName[]
}

/** What the step records. */
export interface UsedTool {
  result: ToolResultPart
  changes: FileChange[]
  isInDoubt?: true
}

export interface ToolCall {
  app: App
  redactor: Redactor
  input: RunInput
  tools: RunTools
  /** The name of its step. */
  step: string
  request: ToolCallPart
}

export async function useTool(ctx: JobContext, call: ToolCall): Promise<UsedTool> {
  const { app, tools, step, request } = call
  if (asksFirst(tools, request)) {
    const decision = await askSomebody(ctx, step, request, app.config.tools.approvalMs)
    if (!decision?.approved) return ctx.run(step, () => notDone(request, refusalOf(decision)))
  }
  const once: StepOptions = { effect: 'once', reconcile: () => ({ done: { ...notDone(request, IN_DOUBT), isInDoubt: true } }) }
  return ctx.run(step, actsOutside(request.tool) ? once : {}, (context) => call.redactor.guard(() => work(ctx.runId, call, context)))
}

const IN_DOUBT = 'The worker was lost while this tool worked. Nobody knows whether it acted, and it was not called again.'

/** Nobody is asked about a call that fails anyway. */
function asksFirst({ needApproval }: RunTools, { tool, args }: ToolCallPart): boolean {
  return isTool(tool) && needApproval.includes(tool) && TOOLS[tool].input.safeParse(args).success
}

function notDone({ tool_call_id, tool }: ToolCallPart, content: string): UsedTool {
  return { result: { type: 'tool_result', tool_call_id, tool, content, is_error: true, truncated: false }, changes: [] }
}

async function work(
  runId: string,
  { app, redactor, input, tools, request }: ToolCall,
  { signal, idempotencyKey, log }: StepContext,
): Promise<UsedTool> {
  const { config, db, sandbox } = app
  const { userId, sessionId } = input
  const { bytes } = config.limits.perUser
  const place = { userId, sessionId, runId }
  const outcome = await runTool(request, {
    sandbox,
    offered: tools.offered,
    notifyUrl: config.tools.notifyUrl,
    limits: config.limits,
    allowCrash: config.allowCrash,
    store: async (text) => storeArtifact(db, place, await withinQuotaText(db, userId, redactor.text(text), bytes)),
    loadWorkspace: () => loadWorkspace(db, userId, sessionId),
    idempotencyKey,
    signal,
  })
  const { content, isError, truncated, artifact, changes, violation } = await withinQuota(db, userId, outcome, bytes)
  const { tool_call_id, tool } = request
  if (violation) log.warn('sandbox_violation', redactor.value({ tool, sandbox: sandbox.name, ...violation }))
  const result: ToolResultPart = { type: 'tool_result', tool_call_id, tool, content, is_error: isError, truncated }
  return {
    result: { ...result, ...(artifact && { artifact }), ...(violation && { violation }) },
    changes: changes.map(({ path, content }) => ({ path, content: content === null ? null : redactor.base64(content) })),
  }
}
