// The keys.
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { define } from '../views/view.ts'
import { DialogView } from './dialog-view.ts'

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['j', 'k'], 'Next run, previous run'],
  [['Enter'], 'Open the run'],
  [['n', 'p'], 'Older page, newer page'],
  [['/'], 'Search'],
  [['t'], 'Trigger a job'],
  [['Esc'], 'Close, or back to the list'],
  [['?'], 'These keys'],
]

class HelpDialog extends DialogView {
  protected override heading(): string {
    return 'Keys'
  }

  protected override body(): TemplateResult {
    return html`<dl class="keys">
      ${KEYS.map(([keys, meaning]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${meaning}</dd></div>`)}
    </dl>`
  }

  protected override footer(): TemplateResult {
    return html`<button class="primary" autofocus>Close</button>`
  }

  protected override async act(): Promise<null> {
    return null
  }
}

define('durably-help-dialog', HelpDialog)

export function helpDialog(app: App): TemplateResult {
  return html`<durably-help-dialog .app=${app}></durably-help-dialog>`
}
