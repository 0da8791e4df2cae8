// One message of the user and its answer, in the form that is shown. It is made of the stored messages of a run that has ended, or of the log
// of a run that the page has followed: the same blocks in the same order.
import type { Message, MessagePart } from '../../../src/wire/session.ts'
import type { RunLog, ToolApproval, ToolResult } from './run-log.ts'

export type Block =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool'; toolCallId: string; tool: string; args: unknown; result: ToolResult | null; approval?: ToolApproval }

/** Adjacent pieces of reasoning are one block. */
function withBlock(blocks: Block[], block: Block): Block[] {
  const last = blocks.at(-1)
  if (block.type !== 'reasoning' || last?.type !== 'reasoning') return [...blocks, block]
  return [...blocks.slice(0, -1), { type: 'reasoning', text: last.text + block.text }]
}

export function blocksOfLog({ steps }: RunLog): Block[] {
  const known = new Map(steps.map((step) => [step.id, step]))
  return steps
    .flatMap(({ output }) => output)
    .map((part): Block => {
      if (part.type !== 'tool_call') return part
      const { toolCallId, toolStepId, tool, args } = part
      const { result = null, approval } = known.get(toolStepId) ?? {}
      return { type: 'tool', toolCallId, tool, args, result, ...(approval && { approval }) }
    })
    .reduce(withBlock, [])
}

export interface StoredTurn {
  runId: string
  question: string
  askedAt: string
  blocks: Block[]
  isInterrupted: boolean
}

/** Messages are in order, and those of one run follow one another. */
export function turnsOfMessages(messages: readonly Message[]): StoredTurn[] {
  const turns = new Map<string, Message[]>()
  for (const message of messages) turns.set(message.run_id, [...(turns.get(message.run_id) ?? []), message])
  return [...turns].map(([runId, ofRun]) => ({
    runId,
    question: textOf(ofRun.find(({ role }) => role === 'user')?.parts ?? []),
    askedAt: ofRun[0]?.created_at ?? '',
    blocks: blocksOfMessages(ofRun),
    isInterrupted: ofRun.some(({ interrupted }) => interrupted),
  }))
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function blocksOfMessages(messages: readonly Message[]): Block[] {
  const parts = messages.filter(({ role }) => role !== 'user').flatMap(({ parts }) => parts)
  const results = new Map(parts.flatMap((part) => (part.type === 'tool_result' ? [[part.tool_call_id, part] as const] : [])))
  return parts
    .flatMap((part): Block[] => {
      if (part.type === 'tool_result') return []
      if (part.type !== 'tool_call') return [part]
      const { tool_call_id, tool, args } = part
      return [{ type: 'tool', toolCallId: tool_call_id, tool, args, result: results.get(tool_call_id) ?? null }]
    })
    .reduce(withBlock, [])
}
