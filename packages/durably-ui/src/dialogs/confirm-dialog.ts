// Asks before something is done.
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { define } from '../views/view.ts'
import { DialogView } from './dialog-view.ts'

interface Question {
  readonly heading: string
  readonly text: string
  readonly button: string
  readonly isDangerous?: boolean
  act(): Promise<string>
}

class ConfirmDialog extends DialogView {
  static override properties = { question: { attribute: false } }
  declare question: Question

  protected override heading(): string {
    return this.question.heading
  }

  protected override body(): TemplateResult {
    return html`<p>${this.question.text}</p>`
  }

  protected override footer(): TemplateResult {
    const { button, isDangerous } = this.question
    return html`<button type="button" class="quiet" autofocus @click=${() => this.closeDialog()}>Leave it</button>
      <button class=${isDangerous ? 'danger-fill' : 'primary'} ?disabled=${this.isBusy}>${button}</button>`
  }

  protected override act(): Promise<string> {
    return this.question.act()
  }
}

define('durably-confirm-dialog', ConfirmDialog)

export function confirmDialog(app: App, question: Question): TemplateResult {
  return html`<durably-confirm-dialog .app=${app} .question=${question}></durably-confirm-dialog>`
}
