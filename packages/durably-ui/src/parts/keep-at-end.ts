// Keeps a list that grows scrolled to its end, unless the reader has scrolled away from it.
import { noChange } from 'lit'
import { AsyncDirective, directive } from 'lit/async-directive.js'
import type { ElementPart } from 'lit/directive.js'

const NEAR_END_PX = 40

class KeepAtEnd extends AsyncDirective {
  #length = -1

  render(_length: number): unknown {
    return noChange
  }

  override update({ element }: ElementPart, [length]: [number]): unknown {
    if (length === this.#length) return noChange
    const wasAtEnd = this.#length === -1 || element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX
    this.#length = length
    if (wasAtEnd) requestAnimationFrame(() => element.scrollTo({ top: element.scrollHeight }))
    return noChange
  }
}

/** `length` tells it that something was added. */
export const keepAtEnd = directive(KeepAtEnd)
