// The messages of a session in the form in which a model gets them.
import type { AssistantContent, ModelMessage, ToolContent } from 'ai'
import type { Message, MessagePart, ToolCallPart } from '../wire/session.ts'

export const SYSTEM = `You are an agent in a chat. You have tools that work on the files of this session, in a sandbox without network.
Use them when they help, and say briefly what you did.`

export type PromptMessage = Pick<Message, 'role' | 'parts'>

/** A call of a tool without a result, as an answer that was cut off has it, is left out: providers refuse it. Reasoning is not sent back. */
export function promptOf(messages: readonly PromptMessage[]): ModelMessage[] {
  const answered = new Set(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part.tool_call_id] : []))),
  )
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === 'user') return [{ role: 'user', content: textOf(message.parts) }]
    if (message.role === 'tool') return [{ role: 'tool', content: message.parts.flatMap(resultOf) }]
    const content = message.parts.flatMap((part) => assistantPart(part, answered))
    return content.length === 0 ? [] : [{ role: 'assistant', content }]
  })
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function assistantPart(part: MessagePart, answered: ReadonlySet<string>): Exclude<AssistantContent, string> {
  if (part.type === 'text') return part.text === '' ? [] : [part]
  if (part.type === 'tool_call' && answered.has(part.tool_call_id)) return [callOf(part)]
  return []
}

function callOf({ tool_call_id, tool, args }: ToolCallPart) {
  // Arguments that are no object were not valid; providers accept objects only.
  const input = typeof args === 'object' && args !== null ? args : { invalid: args }
  return { type: 'tool-call' as const, toolCallId: tool_call_id, toolName: tool, input }
}

function resultOf(part: MessagePart): ToolContent {
  if (part.type !== 'tool_result') return []
  const output = { type: part.is_error ? ('error-text' as const) : ('text' as const), value: part.content }
  return [{ type: 'tool-result', toolCallId: part.tool_call_id, toolName: part.tool, output }]
}
