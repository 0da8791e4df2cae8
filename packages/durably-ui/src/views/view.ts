// View — an element inside the dashboard. It renders into itself, so that the styles of the dashboard's shadow root are its own.
import { LitElement, type PropertyDeclarations } from 'lit'
import type { App } from '../app.ts'

export abstract class View extends LitElement {
  static override properties: PropertyDeclarations = { app: { attribute: false }, now: { attribute: false } }
  declare app: App
  /** The time that the view shows; it changes every second. */
  declare now: number

  protected override createRenderRoot(): HTMLElement {
    return this
  }
}

/** A view that follows something while it is shown, and something else when its key changes. */
export abstract class FollowingView extends View {
  #key: string | null = null

  protected abstract key(): string
  protected abstract begin(): void
  protected abstract end(): void

  override connectedCallback(): void {
    super.connectedCallback()
    this.requestUpdate()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    if (this.#key !== null) this.end()
    this.#key = null
  }

  protected override willUpdate(): void {
    const key = this.key()
    if (key === this.#key || !this.isConnected) return
    if (this.#key !== null) this.end()
    this.#key = key
    this.begin()
  }
}

/** Two copies of this package on a page share the elements of the first. */
export function define(tag: string, view: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, view)
}
