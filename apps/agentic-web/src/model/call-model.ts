// One call of the model: emits what comes, and returns the whole answer or why there is none.
//   M1. It never throws for what the model's server does; it throws only when the run must stop (`signal`).
//   M2. The SDK's request is aborted without a reason: with one, the SDK reports an error of the server instead.
import { type ModelMessage, streamText, type TextStreamPart, type ToolSet, zodSchema } from 'ai'
import type { Limits } from '../config.ts'
import { TOOLS, type ToolName } from '../tools/definitions.ts'
import type { Usage } from '../wire/event.ts'
import type { MessagePart, ToolCallPart } from '../wire/session.ts'
import { type ModelFailure, modelFailure } from './model-failure.ts'
import { SYSTEM } from './prompt.ts'
import type { ChosenModel } from './provider.ts'

export interface ModelRequest extends ChosenModel {
  messages: ModelMessage[]
  tools: readonly ToolName[]
  limits: Pick<Limits, 'modelIdleMs' | 'answerBytes'>
  signal: AbortSignal
  emit: (part: MessagePart) => Promise<void>
}

export interface ModelAnswer {
  parts: MessagePart[]
  usage: Usage
}

export type ModelResult = { answer: ModelAnswer } | { failure: ModelFailure }

/** The SDK turns a schema of zod into a JSON schema with every call of the model, but one of its own only once. */
const SDK_TOOLS: ToolSet = Object.fromEntries(
  Object.entries(TOOLS).map(([name, { description, input }]) => [name, { description, inputSchema: zodSchema<unknown>(input) }]),
)

function sdkTools(offered: readonly ToolName[]): ToolSet {
  return Object.fromEntries(offered.flatMap((name) => (SDK_TOOLS[name] ? [[name, SDK_TOOLS[name]]] : [])))
}

/** Finish reasons with which an answer is complete. */
const COMPLETE: ReadonlySet<string> = new Set(['stop', 'tool-calls', 'length', 'content-filter'])

export async function callModel(request: ModelRequest): Promise<ModelResult> {
  const { model, key, options, messages, tools, limits, signal } = request
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  signal.addEventListener('abort', stop)
  const idle = new IdleWatch(limits.modelIdleMs, stop)
  try {
    signal.throwIfAborted()
    const { fullStream } = streamText({
      model,
      messages,
      system: SYSTEM,
      tools: sdkTools(tools),
      providerOptions: options,
      maxRetries: 0,
      abortSignal: stopped.signal,
      onError: () => {},
    })
    return await read(fullStream, request, idle)
  } catch (error) {
    signal.throwIfAborted()
    return { failure: idle.isOver ? stalled(limits.modelIdleMs) : modelFailure(error, key) }
  } finally {
    idle.end()
    stop()
    signal.removeEventListener('abort', stop)
  }
}

async function read(stream: AsyncIterable<TextStreamPart<ToolSet>>, request: ModelRequest, idle: IdleWatch): Promise<ModelResult> {
  const { limits, signal, key, emit } = request
  const parts: MessagePart[] = []
  let bytes = 0
  for await (const part of stream) {
    idle.reset()
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') break
    if (part.type === 'finish')
      return COMPLETE.has(part.finishReason)
        ? { answer: { parts, usage: { input_tokens: part.totalUsage.inputTokens ?? 0, output_tokens: part.totalUsage.outputTokens ?? 0 } } }
        : { failure: modelFailure(new Error('the answer broke off'), key) }
    const said = saidPart(part)
    if (!said) continue
    bytes += Buffer.byteLength(said.type === 'tool_call' ? JSON.stringify(said.args) : said.text)
    if (bytes > limits.answerBytes) return { failure: tooLong(limits.answerBytes) }
    addPart(parts, said)
    await emit(said)
  }
  signal.throwIfAborted()
  throw new Error('the answer broke off')
}

type SaidPart = Exclude<MessagePart, { type: 'tool_result' }>

function saidPart(part: TextStreamPart<ToolSet>): SaidPart | undefined {
  if (part.type === 'text-delta') return part.text === '' ? undefined : { type: 'text', text: part.text }
  if (part.type === 'reasoning-delta') return part.text === '' ? undefined : { type: 'reasoning', text: part.text }
  if (part.type === 'tool-call') return toolCall(part)
  return undefined
}

function toolCall(part: { toolCallId: string; toolName: string; input: unknown }): ToolCallPart {
  return { type: 'tool_call', tool_call_id: part.toolCallId, tool: part.toolName, args: part.input ?? {} }
}

/** Adjacent parts of the same kind are one. */
function addPart(parts: MessagePart[], part: SaidPart): void {
  const last = parts.at(-1)
  if (last && part.type !== 'tool_call' && last.type === part.type) last.text += part.text
  else parts.push({ ...part })
}

function stalled(ms: number): ModelFailure {
  return { code: 'model_stalled', message: `The model's server sent nothing for ${Math.round(ms / 1000)} s.`, retryAfterMs: 0 }
}

function tooLong(bytes: number): ModelFailure {
  return { code: 'answer_too_long', message: `The answer is larger than ${bytes} bytes, and was stopped.`, retryAfterMs: null }
}

class IdleWatch {
  isOver = false
  readonly #timer: NodeJS.Timeout

  constructor(ms: number, stop: () => void) {
    this.#timer = setTimeout(() => {
      this.isOver = true
      stop()
    }, ms)
  }

  reset(): void {
    this.#timer.refresh()
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
