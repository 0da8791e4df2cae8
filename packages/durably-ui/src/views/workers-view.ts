// The workers of the register, and which process is elected.
import { html, nothing, type TemplateResult } from 'lit'
import type { ClusterClient, ListedLeader, ListedWorker } from '../cluster-client.ts'
import { moment } from '../parts/moment.ts'
import { emptyNotice, errorNotice, loadingNotice } from '../parts/notice.ts'
import { workerColour } from '../parts/worker-colour.ts'
import { RepeatedRead } from '../state/repeated-read.ts'
import { define, FollowingView } from './view.ts'

const READ_AGAIN_MS = 3000

interface Fleet {
  readonly workers: readonly ListedWorker[]
  readonly leader: ListedLeader | null
}

class WorkersView extends FollowingView {
  static override properties = { cluster: { attribute: false } }
  declare cluster: ClusterClient
  #read: RepeatedRead<Fleet> | null = null

  protected override key(): string {
    return ''
  }

  protected override begin(): void {
    const ask = async (): Promise<Fleet> => ({
      workers: (await this.cluster.workers?.list()) ?? [],
      leader: (await this.cluster.leader?.()) ?? null,
    })
    this.#read = new RepeatedRead(ask, READ_AGAIN_MS, () => this.requestUpdate())
    void this.#read.start()
  }

  protected override end(): void {
    this.#read?.stop()
  }

  protected override render(): TemplateResult {
    const { answer, error } = this.#read ?? { answer: null, error: null }
    return html`<header class="page-head"><h1>Workers</h1></header>
      ${errorNotice(error)} ${answer ? this.#fleet(answer) : error ? nothing : loadingNotice()}`
  }

  #fleet({ workers, leader }: Fleet): TemplateResult {
    return html`<p class="hint">${
      leader?.isLeading
        ? html`${leader.workerId} leads, in epoch ${leader.epoch}, since ${moment(leader.electedAt, this.now)}.`
        : 'No process leads now.'
    }</p>
      ${workers.length === 0 ? emptyNotice('No worker in the register', 'Workers enter it only if their process calls cluster(), as durably worker does. Others execute runs as well, and are not listed here.') : html`<ul class="jobs">${workers.map((worker) => this.#card(worker, leader))}</ul>`}`
  }

  #card({ id, state, isSilent, capacity, running, heartbeatAt, version }: ListedWorker, leader: ListedLeader | null): TemplateResult {
    return html`<li class="card">
      <header>
        <h2><span class="dot ${workerColour(id)}"></span>${id}</h2>
        ${leader?.isLeading && leader.workerId === id ? html`<span class="badge active">Leader</span>` : nothing}
        <span class="badge ${isSilent ? 'bad' : state === 'attached' ? 'good' : 'warn'}">${isSilent ? 'Silent' : state}</span>
      </header>
      <dl class="figures">
        <div><dt>Running</dt><dd>${running} of ${capacity}</dd></div>
        <div><dt>Seen</dt><dd>${moment(heartbeatAt, this.now)}</dd></div>
        ${version === null ? nothing : html`<div><dt>Version</dt><dd>${version}</dd></div>`}
      </dl>
    </li>`
  }
}

define('durably-workers-view', WorkersView)
