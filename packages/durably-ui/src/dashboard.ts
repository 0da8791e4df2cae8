// Dashboard — the element <durably-dashboard>: the frame around the pages, and what they share.
import type { DurablyClient } from '@coji/durably/client'
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import type { App } from './app.ts'
import type { ClusterClient } from './cluster-client.ts'
import type { DashboardControl, DashboardJob, DurablyDashboard } from './dashboard-options.ts'
import { helpDialog } from './dialogs/help-dialog.ts'
import { triggerDialog } from './dialogs/trigger-dialog.ts'
import { pressKey } from './keyboard.ts'
import { emptyNotice, errorNotice } from './parts/notice.ts'
import { pageOf } from './parts/page-of.ts'
import { sideBar } from './parts/side-bar.ts'
import { Toasts } from './parts/toasts.ts'
import { formatRoute, HOME, parseRoute, type Route } from './route.ts'
import { now, repeatedly } from './state/clock.ts'
import { CountSamples } from './state/count-samples.ts'
import { JobList } from './state/job-list.ts'
import { styles } from './styles/styles.ts'
import { nextTheme, storedTheme, storeTheme, type Theme } from './theme.ts'
import { define } from './views/view.ts'

const TICK_MS = 1000
const STORE_AWAY =
  'The server cannot reach its database. What you see is from before; nothing is lost, and the page goes on by itself when it is back.'

class Dashboard extends LitElement implements DurablyDashboard {
  static override styles = styles
  static override properties = {
    client: { attribute: false },
    jobs: { attribute: false },
    cluster: { attribute: false },
    controls: { attribute: false },
    clockOffset: { type: Number },
    routing: { type: String },
    theme: { type: String, reflect: true },
    route: { state: true },
    dialog: { state: true },
    time: { state: true },
  }

  declare client: DurablyClient | null
  declare jobs: readonly DashboardJob[] | null
  declare cluster: ClusterClient | null
  declare controls: readonly DashboardControl[]
  declare clockOffset: number
  declare routing: 'hash' | 'memory'
  declare theme: Theme
  declare private route: Route
  declare private dialog: TemplateResult | null
  declare private time: number

  readonly #toasts = new Toasts(() => this.requestUpdate())
  #app: App | null = null
  #list: Route = HOME
  #disconnected = new AbortController()

  constructor() {
    super()
    Object.assign(this, { client: null, jobs: null, cluster: null, controls: [], clockOffset: 0, routing: 'memory' })
    Object.assign(this, { dialog: null, route: HOME, time: now() })
    this.theme = storedTheme()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.#disconnected = new AbortController()
    const { signal } = this.#disconnected
    window.addEventListener('hashchange', () => this.#readAddress(), { signal })
    document.addEventListener('keydown', (event) => this.#key(event), { signal })
    void repeatedly(
      () => TICK_MS,
      signal,
      async () => {
        this.time = now() + this.clockOffset
      },
    )
    if (this.hasUpdated) this.#begin()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#disconnected.abort()
    this.#end()
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('routing')) this.#readAddress()
    if (this.route.page === 'runs') this.#list = this.route
    if (changed.has('client') || changed.has('cluster') || changed.has('jobs')) this.#begin()
  }

  /** Another client is another world: everything is read anew. */
  #begin(): void {
    this.#end()
    const { client } = this
    if (!client) return
    const changed = () => this.#refresh()
    const jobs = new JobList(client, this.jobs, changed)
    const counts = new CountSamples(client, changed)
    this.#app = {
      client,
      jobs,
      counts,
      cluster: this.cluster,
      href: (route) => (this.routing === 'hash' ? `#${formatRoute(route)}` : '#'),
      list: () => this.#list,
      go: (route, options) => this.#go(route, options),
      open: (dialog) => {
        this.dialog = dialog
      },
      close: () => {
        this.dialog = null
      },
      say: (text, tone = 'good') => this.#toasts.say(text, tone),
    }
    void jobs.start()
    void counts.start()
  }

  #end(): void {
    this.#app?.counts.stop()
    this.#app?.jobs.stop()
    this.#app = null
  }

  /** What the views share has changed; they show it with the time. */
  #refresh(): void {
    this.time = Math.max(now() + this.clockOffset, this.time + 1)
  }

  #go(route: Route, { replace = false } = {}): void {
    if (this.routing === 'hash') {
      const address = `#${formatRoute(route)}`
      if (replace) history.replaceState(null, '', address)
      else history.pushState(null, '', address)
    }
    const isOtherPage = route.page !== this.route.page
    this.#show(route)
    if (isOtherPage) void this.#beginPage()
  }

  /** A screen reader goes on where the new page is. */
  async #beginPage(): Promise<void> {
    await this.updateComplete
    const main = this.renderRoot.querySelector('main')
    main?.scrollTo(0, 0)
    if (!this.dialog) main?.focus()
  }

  #readAddress(): void {
    if (this.routing === 'hash') this.#show(parseRoute(location.hash.slice(1)))
  }

  /** A dialog is about what was shown when it was opened, so it does not outlive that. */
  #show(route: Route): void {
    this.route = route
    this.dialog = null
  }

  #key(event: KeyboardEvent): void {
    const app = this.#app
    if (!app) return
    const isMeant = pressKey(event, this, {
      search: () => this.#search(),
      trigger: () => app.open(triggerDialog(app, this.route.page === 'job' ? this.route.name : null)),
      help: () => app.open(helpDialog(app)),
      back: () => {
        if (this.route.page !== 'runs') this.#go(this.#list)
      },
    })
    if (isMeant) event.preventDefault()
  }

  /** From another page it leads to the list, where the field is. On the list it is at once: the next key is already meant for it. */
  async #search(): Promise<void> {
    if (this.route.page !== 'runs') {
      this.#go(HOME)
      await this.updateComplete
      await new Promise(requestAnimationFrame)
    }
    this.renderRoot.querySelector<HTMLInputElement>('input[type=search]')?.select()
  }

  #switchTheme(): void {
    this.theme = nextTheme(this.theme)
    storeTheme(this.theme)
  }

  protected override render(): TemplateResult {
    const app = this.#app
    if (!app) return html`<main>${emptyNotice('No client', 'Give the element a client: dashboard.client = httpClient({ url }).')}</main>`
    const { controls, route, theme } = this
    return html`<div class="shell">
      ${sideBar(app, { controls, route, theme, switchTheme: () => this.#switchTheme(), help: () => app.open(helpDialog(app)) })}
      <main tabindex="-1">
        ${app.counts.isStoreAway ? errorNotice(STORE_AWAY) : nothing} ${keyed(app, pageOf(app, route, this.time))}
      </main>
      ${this.dialog ? html`<div class="dialogs">${keyed(this.dialog, this.dialog)}</div>` : nothing} ${this.#toasts.render()}
    </div>`
  }
}

define('durably-dashboard', Dashboard)
