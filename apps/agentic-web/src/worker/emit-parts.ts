// Turns the parts of an answer into chunks of the step's stream. Reasoning comes in many small pieces, which the engine does not join as it
// joins texts: a few are collected into one chunk.
import type { ModelChunk } from '../model/chunk.ts'
import type { MessagePart } from '../wire/session.ts'
import { toolStep } from './step-names.ts'

const REASONING_LENGTH = 120

export class PartEmitter {
  readonly #emit: (chunk: ModelChunk) => Promise<void>
  readonly #call: number
  #reasoning = ''
  #tools = 0

  constructor(emit: (chunk: ModelChunk) => Promise<void>, call: number) {
    this.#emit = emit
    this.#call = call
  }

  async add(part: MessagePart): Promise<void> {
    if (part.type === 'reasoning') {
      this.#reasoning += part.text
      if (this.#reasoning.length >= REASONING_LENGTH) await this.flush()
      return
    }
    await this.flush()
    if (part.type === 'text') await this.#emit(part.text)
    if (part.type !== 'tool_call') return
    const { type: _, ...call } = part
    await this.#emit({ tool_call: { ...call, tool_step_id: toolStep(this.#call, this.#tools++) } })
  }

  async flush(): Promise<void> {
    if (this.#reasoning === '') return
    const reasoning = this.#reasoning
    this.#reasoning = ''
    await this.#emit({ reasoning })
  }
}
