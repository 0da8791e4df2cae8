// Who did what, the newest first, and the settings of all processes.
import { html, nothing, type TemplateResult } from 'lit'
import type { ClusterClient, ListedAuditEntry } from '../cluster-client.ts'
import { link } from '../parts/link.ts'
import { moment } from '../parts/moment.ts'
import { emptyNotice, errorNotice, loadingNotice } from '../parts/notice.ts'
import { RepeatedRead } from '../state/repeated-read.ts'
import { durationInWords } from '../words/duration.ts'
import { define, FollowingView } from './view.ts'

const READ_AGAIN_MS = 5000
const SHOWN_MAX = 100

interface Audited {
  readonly entries: readonly ListedAuditEntry[]
  /** Null if they cannot be read. */
  readonly settings: object | null
}

class AuditView extends FollowingView {
  static override properties = { cluster: { attribute: false } }
  declare cluster: ClusterClient
  #read: RepeatedRead<Audited> | null = null

  protected override key(): string {
    return ''
  }

  protected override begin(): void {
    const { audit, settings } = this.cluster
    const ask = async (): Promise<Audited> => ({
      entries: (await audit?.list({ limit: SHOWN_MAX })) ?? [],
      // Who may read the audit may not be allowed to read the settings.
      settings: (await settings?.get().catch(() => null)) ?? null,
    })
    this.#read = new RepeatedRead(ask, READ_AGAIN_MS, () => this.requestUpdate())
    void this.#read.start()
  }

  protected override end(): void {
    this.#read?.stop()
  }

  protected override render(): TemplateResult {
    const { answer, error } = this.#read ?? { answer: null, error: null }
    return html`<header class="page-head"><h1>Audit</h1></header>
      ${errorNotice(error)} ${answer ? this.#list(answer) : error ? nothing : loadingNotice()}`
  }

  #list({ entries, settings }: Audited): TemplateResult {
    return html`${settings ? this.#settings(settings) : nothing}
      ${
        entries.length === 0
          ? emptyNotice('Nothing recorded', 'A command is recorded if it says who gives it.')
          : html`<ol class="entries">${entries.map((entry) => this.#entry(entry))}</ol>`
      }`
  }

  #settings(settings: object): TemplateResult {
    const durations = Object.entries(settings).filter(
      ([name, value]) => name !== 'version' && (value === null || typeof value === 'number'),
    )
    const shown = durations.filter(([name]) => !name.startsWith('updated'))
    return html`<section class="card" aria-label="Settings">
      <header><h2>Settings</h2></header>
      <dl class="figures">
        ${shown.map(([name, ms]) => html`<div><dt>${name}</dt><dd>${ms === null ? 'as each process says' : durationInWords(ms)}</dd></div>`)}
      </dl>
    </section>`
  }

  #entry({ at, actor, action, target, detail }: ListedAuditEntry): TemplateResult {
    return html`<li>
      <span>${moment(at, this.now)}</span>
      <b>${actor}</b>
      <code>${action}</code>
      <span>${target.kind === 'run' ? link(this.app, { page: 'run', id: target.id }, target.id) : target.id}</span>
      ${detail === null ? nothing : html`<code class="hint">${JSON.stringify(detail)}</code>`}
    </li>`
  }
}

define('durably-audit-view', AuditView)
