// Sends a signal to a run.
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { define } from '../views/view.ts'
import { DialogView, entered, enteredJson } from './dialog-view.ts'

class SignalDialog extends DialogView {
  static override properties = { runId: { attribute: false }, name: { attribute: false }, acted: { attribute: false } }
  declare runId: string
  /** The signal that the run waits for; empty if it waits for none. */
  declare name: string
  declare acted: () => void

  protected override heading(): string {
    return 'Send a signal'
  }

  protected override body(): TemplateResult {
    return html`<label>Name<input name="name" required .value=${this.name} ?autofocus=${this.name === ''} /></label>
      <label>Value, as JSON<textarea name="value" rows="5" class="mono" placeholder='{ "approved": true }' ?autofocus=${this.name !== ''}></textarea></label>
      <p class="hint">A run that does not wait for it yet gets it later. The first signal of a name counts.</p>`
  }

  protected override footer(): TemplateResult {
    return html`<button type="button" class="quiet" @click=${() => this.closeDialog()}>Leave it</button>
      <button class="primary" ?disabled=${this.isBusy}>Send</button>`
  }

  protected override async act(form: FormData): Promise<string> {
    const name = entered(form, 'name')
    await this.app.client.signal(this.runId, name, enteredJson(form, 'value', 'The value'))
    this.acted()
    return `The signal “${name}” was sent.`
  }
}

define('durably-signal-dialog', SignalDialog)

export function signalDialog(app: App, runId: string, name: string, acted: () => void): TemplateResult {
  return html`<durably-signal-dialog .app=${app} .runId=${runId} .name=${name} .acted=${acted}></durably-signal-dialog>`
}
