// The job that answers one message: asks the model, does what it asks for with tools, and so on until it asks for no more tools.
//   A1. Every call of the model and every tool is one recorded step. A worker that takes over repeats only the one that was not recorded.
//   A2. A transaction after each of them writes the message, and the files that a tool changed. It is a step too, so they are written once.
//   A3. Only this job writes answers. Those of a run that is not over are read from its log (wire/session.ts).
//   A4. The redactor stands before everything that a step emits, returns or throws, because all of that is durable.
//   A5. If the database cannot be reached, the job is tried again later, and keeps its session meanwhile.
import type { Durably, JobContext, JobHandle } from '@coji/durably'
import { z } from 'zod'
import { AgentError } from '../agent-error.ts'
import type { App } from '../app.ts'
import { applyChanges } from '../db/files.ts'
import { addUsage, insertMessage, listMessages, type NewMessage } from '../db/messages.ts'
import { retryOutages } from '../db/outage.ts'
import type { AppTransaction } from '../db/tables.ts'
import type { PromptMessage } from '../model/prompt.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { MessagePart, ToolCallPart } from '../wire/session.ts'
import { askModel } from './ask-model.ts'
import { learnSecrets } from './credential.ts'
import { prepare } from './prepare.ts'
import { saveStep, toolStep } from './step-names.ts'
import { type RunTools, useTool } from './use-tool.ts'

export const AGENT_RUN = 'agent-run'

const runInput = z.object({ userId: z.string(), sessionId: z.string(), turn: z.number(), message: z.string() })
export type RunInput = z.infer<typeof runInput>
export type AgentJob = JobHandle<typeof AGENT_RUN, RunInput, RunOutput>

export interface RunOutput {
  /** The text of the last answer. */
  text: string
}

export function defineAgentRun(durably: Durably, app: () => App, timeout: number): AgentJob {
  return durably.defineJob({ name: AGENT_RUN, input: runInput, timeout, retry: retryOutages }, (ctx, input): Promise<RunOutput> => {
    const redactor = new Redactor()
    return redactor.guard(() => answerMessage(ctx, app(), input, redactor))
  })
}

async function answerMessage(ctx: JobContext, app: App, input: RunInput, redactor: Redactor): Promise<RunOutput> {
  const { settings, tools } = await prepare(ctx, app, input)
  // A worker that takes over in the middle may begin with a tool, and has to know what must not be in its output.
  await learnSecrets(app, input.userId, settings, redactor)
  const history = await listMessages(app.db, input.userId, input.sessionId, input.turn)
  const messages: PromptMessage[] = [...history, { role: 'user', parts: [{ type: 'text', text: input.message }] }]
  const turn = new Turn(ctx, { app, redactor, tools }, input, messages)
  for (let call = 0; call < app.config.limits.steps; call++) {
    const { step, answer } = await askModel(ctx, { app, input, settings, redactor, tools: tools.offered, messages, call })
    await turn.save(step, { role: 'assistant', parts: answer.parts }, (trx) => addUsage(trx, input.userId, ctx.runId, answer.usage))
    const calls = answer.parts.filter((part) => part.type === 'tool_call')
    if (calls.length === 0) return { text: textOf(answer.parts) }
    for (const [index, request] of calls.entries()) await turn.useTool(toolStep(call, index), request)
  }
  throw new AgentError('too_many_steps', `The model asked for tools ${app.config.limits.steps} times without an answer, and was stopped.`)
}

interface TurnDeps {
  app: App
  redactor: Redactor
  tools: RunTools
}

/** What one run says, and where in the session it is written. */
class Turn {
  readonly #ctx: JobContext
  readonly #app: App
  readonly #redactor: Redactor
  readonly #input: RunInput
  readonly #tools: RunTools
  readonly #messages: PromptMessage[]
  /** The message of the user is at 0. */
  #position = 1

  constructor(ctx: JobContext, { app, redactor, tools }: TurnDeps, input: RunInput, messages: PromptMessage[]) {
    this.#ctx = ctx
    this.#app = app
    this.#redactor = redactor
    this.#input = input
    this.#tools = tools
    this.#messages = messages
  }

  async useTool(step: string, request: ToolCallPart): Promise<void> {
    const { userId, sessionId } = this.#input
    const call = { app: this.#app, redactor: this.#redactor, input: this.#input, tools: this.#tools, step, request }
    const { result, changes, isInDoubt } = await useTool(this.#ctx, call)
    await this.save(step, { role: 'tool', parts: [result] }, (trx) => applyChanges(trx, { userId, sessionId }, changes))
    if (isInDoubt) throw new AgentError('tool_in_doubt', `${result.content} Look whether it did, and then go on.`)
  }

  async save(step: string, message: NewMessage, alsoWrite: (trx: AppTransaction) => Promise<void>): Promise<void> {
    const { userId, sessionId, turn } = this.#input
    const place = { userId, sessionId, runId: this.#ctx.runId, turn, position: this.#position++ }
    const isSaved = await this.#ctx.transaction(saveStep(step), async (trx) => {
      const isThere = await insertMessage(trx, place, message)
      if (isThere) await alsoWrite(trx)
      return isThere
    })
    if (!isSaved) throw new AgentError('session_deleted', 'The session was deleted.')
    this.#messages.push(message)
  }
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
