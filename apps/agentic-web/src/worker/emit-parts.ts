// Turns the parts of an answer into chunks of the step's stream. Reasoning comes in many small pieces, which the engine does not join as it
// joins texts: a few are collected into one chunk. Secrets are taken out, also where they come in pieces.
import type { ModelChunk } from '../model/chunk.ts'
import type { RedactedPieces, Redactor } from '../secrets/redactor.ts'
import type { MessagePart } from '../wire/session.ts'
import { toolStep } from './step-names.ts'

const REASONING_LENGTH = 120

export class PartEmitter {
  readonly #emit: (chunk: ModelChunk) => Promise<void>
  readonly #call: number
  readonly #redactor: Redactor
  readonly #texts: RedactedPieces
  readonly #thoughts: RedactedPieces
  #reasoning = ''
  #tools = 0

  constructor(emit: (chunk: ModelChunk) => Promise<void>, call: number, redactor: Redactor) {
    this.#emit = emit
    this.#call = call
    this.#redactor = redactor
    this.#texts = redactor.pieces()
    this.#thoughts = redactor.pieces()
  }

  async add(part: MessagePart): Promise<void> {
    if (part.type === 'reasoning') {
      await this.#emitText(this.#texts.end())
      this.#reasoning += this.#thoughts.push(part.text)
      if (this.#reasoning.length >= REASONING_LENGTH) await this.#emitReasoning()
      return
    }
    if (part.type === 'text') {
      await this.#endReasoning()
      return this.#emitText(this.#texts.push(part.text))
    }
    await this.flush()
    if (part.type !== 'tool_call') return
    const { type: _, ...call } = this.#redactor.value(part)
    await this.#emit({ tool_call: { ...call, tool_step_id: toolStep(this.#call, this.#tools++) } })
  }

  /** What was held back comes now. */
  async flush(): Promise<void> {
    await this.#emitText(this.#texts.end())
    await this.#endReasoning()
  }

  async #emitText(text: string): Promise<void> {
    if (text !== '') await this.#emit(text)
  }

  async #endReasoning(): Promise<void> {
    this.#reasoning += this.#thoughts.end()
    await this.#emitReasoning()
  }

  async #emitReasoning(): Promise<void> {
    if (this.#reasoning === '') return
    const reasoning = this.#reasoning
    this.#reasoning = ''
    await this.#emit({ reasoning })
  }
}
