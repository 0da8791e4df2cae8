// What the dashboard says for a few seconds, also to screen readers.
import { html, type TemplateResult } from 'lit'
import { pause } from '../state/clock.ts'

interface Toast {
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const SHOWN_MS = 5000

export class Toasts {
  #toasts: readonly Toast[] = []
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  say(text: string, tone: Toast['tone']): void {
    const toast = { text, tone }
    this.#toasts = [...this.#toasts, toast]
    this.#changed()
    void pause(SHOWN_MS, new AbortController().signal).then(() => {
      this.#toasts = this.#toasts.filter((other) => other !== toast)
      this.#changed()
    })
  }

  render(): TemplateResult {
    return html`<div class="toasts" role="status" aria-live="polite">
      ${this.#toasts.map(({ text, tone }) => html`<p class="toast ${tone}">${text}</p>`)}
    </div>`
  }
}
