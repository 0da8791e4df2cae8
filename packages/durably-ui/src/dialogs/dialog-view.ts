// DialogView — a dialog of the dashboard. The browser keeps the focus in it, closes it with Escape and gives the focus back.
//   D1. It may be gone before what it does is done: somebody went to another page. Then it closes no other dialog, and what it has to say
//       is said by the dashboard.
import { html, type PropertyDeclarations, type TemplateResult } from 'lit'
import { icon } from '../parts/icon.ts'
import { errorNotice } from '../parts/notice.ts'
import { errorText } from '../state/error-text.ts'
import { View } from '../views/view.ts'

export abstract class DialogView extends View {
  static override properties: PropertyDeclarations = { isBusy: { state: true }, problem: { state: true } }
  declare protected isBusy: boolean
  declare protected problem: string | null

  constructor() {
    super()
    this.isBusy = false
    this.problem = null
  }

  protected abstract heading(): string
  protected abstract body(): unknown
  protected abstract footer(): unknown
  /** Resolves to what is said when it is done. */
  protected abstract act(form: FormData): Promise<string | null>

  protected override firstUpdated(): void {
    this.querySelector('dialog')?.showModal()
  }

  protected override render(): TemplateResult {
    return html`<dialog aria-labelledby="dialog-heading" @close=${this.#closed} @click=${this.#clickBeside}>
      <form @submit=${this.#submit}>
        <header>
          <h2 id="dialog-heading">${this.heading()}</h2>
          <button type="button" class="quiet small" aria-label="Close" @click=${() => this.closeDialog()}>${icon('close')}</button>
        </header>
        <div class="dialog-body">${this.body()} ${errorNotice(this.problem)}</div>
        <footer>${this.footer()}</footer>
      </form>
    </dialog>`
  }

  protected closeDialog(): void {
    this.querySelector('dialog')?.close()
  }

  #closed(): void {
    if (this.isConnected) this.app.close()
  }

  #clickBeside(event: Event): void {
    if (event.target === event.currentTarget) this.closeDialog()
  }

  async #submit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (this.isBusy) return
    const form = new FormData(event.target as HTMLFormElement)
    this.isBusy = true
    this.problem = null
    try {
      const said = await this.act(form)
      if (said !== null) this.app.say(said, 'good')
      this.closeDialog()
    } catch (error) {
      if (this.isConnected) this.problem = errorText(error)
      else this.app.say(errorText(error), 'bad')
    } finally {
      this.isBusy = false
    }
  }
}

/** The value of a control, as text. */
export function entered(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

/** Throws what to do if the text is not JSON. */
export function enteredJson(form: FormData, name: string, label: string): unknown {
  const text = entered(form, name).trim()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${label} must be JSON. A text needs quotes, such as "yes".`)
  }
}
