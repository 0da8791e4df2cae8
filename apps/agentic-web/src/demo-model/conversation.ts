// What the script knows of a conversation: the last message of the user, and what happened since.
import { z } from 'zod'

const content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish()

export const chatRequest = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content })).min(1),
})
export type ChatRequest = z.infer<typeof chatRequest>

export interface Conversation {
  /** The last message of the user. */
  asked: string
  /** Earlier messages of the user. */
  before: string[]
  /** What tools have returned since the last message, in order. */
  results: string[]
  /** How many times the model was asked since the last message. */
  calls: number
  /** Makes the ids of tool calls unique in the conversation. */
  length: number
}

export function conversationOf({ messages }: ChatRequest): Conversation {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const since = messages.slice(last + 1)
  return {
    asked: textOf(messages[last]?.content).trim(),
    before: messages.slice(0, Math.max(last, 0)).flatMap((message) => (message.role === 'user' ? [textOf(message.content).trim()] : [])),
    results: since.flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : [])),
    calls: since.filter(({ role }) => role === 'assistant').length,
    length: messages.length,
  }
}

function textOf(value: z.infer<typeof content>): string {
  if (typeof value === 'string') return value
  return (value ?? []).map(({ text }) => text ?? '').join('')
}
