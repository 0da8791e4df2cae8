// Changes all runs that match the filter of the list. It counts while it works, and can be stopped; what was done stays done.
import type { RunConditions } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { changeMany, type ManyVerb } from '../state/change-many.ts'
import { define } from '../views/view.ts'
import { conditionsInWords } from '../words/conditions.ts'
import { counted } from '../words/plural.ts'
import { DialogView } from './dialog-view.ts'

interface VerbWords {
  readonly heading: string
  readonly which: string
  readonly button: string
  readonly done: string
  readonly isDangerous: boolean
}

const VERBS: { readonly [verb in ManyVerb]: VerbWords } = {
  retryRuns: { heading: 'Retry failed runs?', which: 'All failed runs', button: 'Retry them', done: 'Retried', isDangerous: false },
  cancelRuns: {
    heading: 'Cancel open runs?',
    which: 'All pending and running runs',
    button: 'Cancel them',
    done: 'Cancelled',
    isDangerous: true,
  },
  deleteRuns: {
    heading: 'Delete ended runs?',
    which: 'All runs that have ended',
    button: 'Delete them',
    done: 'Deleted',
    isDangerous: true,
  },
}

class ManyRunsDialog extends DialogView {
  static override properties = { verb: { attribute: false }, conditions: { attribute: false }, count: { state: true } }
  declare verb: ManyVerb
  declare conditions: RunConditions
  declare private count: number
  readonly #stopped = new AbortController()

  constructor() {
    super()
    this.count = 0
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#stopped.abort()
  }

  protected override heading(): string {
    return VERBS[this.verb].heading
  }

  protected override body(): TemplateResult {
    const { which, done } = VERBS[this.verb]
    const words = conditionsInWords(this.conditions)
    return html`<p>${which}${words.length === 0 ? ', of all jobs and all times' : ''}:</p>
      ${words.length > 0 ? html`<ul>${words.map((word) => html`<li>${word}</li>`)}</ul>` : ''}
      ${this.verb === 'deleteRuns' ? html`<p>This cannot be undone.</p>` : ''}
      ${this.isBusy ? html`<p role="status">${done} ${counted(this.count, 'run')} so far…</p>` : ''}`
  }

  protected override footer(): TemplateResult {
    const { button, isDangerous } = VERBS[this.verb]
    return html`<button type="button" class="quiet" autofocus @click=${() => this.closeDialog()}>${this.isBusy ? 'Stop' : 'Leave them'}</button>
      <button class=${isDangerous ? 'danger-fill' : 'primary'} ?disabled=${this.isBusy}>${button}</button>`
  }

  protected override async act(): Promise<string> {
    const progress = (count: number) => {
      this.count = count
    }
    const count = await changeMany(this.app.client, this.verb, this.conditions, { signal: this.#stopped.signal, progress })
    return `${VERBS[this.verb].done} ${counted(count, 'run')}.`
  }
}

define('durably-many-runs-dialog', ManyRunsDialog)

export function manyRunsDialog(app: App, verb: ManyVerb, conditions: RunConditions): TemplateResult {
  return html`<durably-many-runs-dialog .app=${app} .verb=${verb} .conditions=${conditions}></durably-many-runs-dialog>`
}
