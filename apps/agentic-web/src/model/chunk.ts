// What a call of the model emits while it answers. A text is emitted as it is, so that the engine joins adjacent ones; everything else is
// an object.
import type { ToolCallPart } from '../wire/session.ts'

export type ModelChunk = string | { reasoning: string } | { tool_call: EmittedCall }

/** With the name of the step that does the work. */
export type EmittedCall = Omit<ToolCallPart, 'type'> & { tool_step_id: string }
