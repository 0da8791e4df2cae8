// What one step has said: a list of parts with positions (rule V2 of wire/event.ts). A text takes as many positions as it has UTF-16 units,
// everything else takes one.

export type OutputPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; toolCallId: string; toolStepId: string; tool: string; args: unknown }

export type Output = readonly OutputPart[]

/** Replaces whatever is at `at` and after it. */
export function writePart(output: Output, at: number, part: OutputPart): Output {
  const kept = cutOutput(output, at)
  const last = kept.at(-1)
  if (part.type === 'text' && last?.type === 'text') return [...kept.slice(0, -1), { type: 'text', text: last.text + part.text }]
  return [...kept, part]
}

/** Keeps what is before position `to`. */
export function cutOutput(output: Output, to: number): Output {
  const kept: OutputPart[] = []
  let position = 0
  for (const part of output) {
    const room = to - position
    if (room <= 0) break
    kept.push(part.type === 'text' && part.text.length > room ? { type: 'text', text: part.text.slice(0, room) } : part)
    position += part.type === 'text' ? part.text.length : 1
  }
  return kept
}
