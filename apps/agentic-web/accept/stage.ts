// What every check of the acceptance has: the fleet behind a load balancer that can fail, a browser, and the report.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { launchChromium, temporaryProfile } from '../../../packages/durably/tests/browser/chromium.ts'
import { RoundRobinProxy } from '../../../proof/src/fleet/proxy.ts'
import { Client } from '../tests/rig/client.ts'
import { Fleet } from '../tests/rig/fleet.ts'
import { Receiver } from '../tests/rig/receiver.ts'

export const LEASE_MS = 5000
const SHOWN_MS_MAX = 60_000

export type Figure = number | { ms: number; boundMs: number }

/** What became of an attempt to get out of a sandbox: `held`, or why it was not tried. */
export type Escapes = Record<string, Record<string, string>>

export interface StageOptions {
  /** Variables of the fleet beside those that it always has. */
  env?: Record<string, string>
  /** Before the names of its figures. */
  prefix?: string
}

interface Parts {
  fleet: Fleet
  proxy: RoundRobinProxy
  context: BrowserContext
  receiver: Receiver
}

export class Stage implements AsyncDisposable {
  readonly fleet: Fleet
  readonly proxy: RoundRobinProxy
  readonly context: BrowserContext
  /** Gets what the tool `notify` sends. */
  readonly receiver: Receiver
  /** Through the load balancer. */
  readonly client: Client
  /** The same, past it. */
  readonly a: Client
  readonly b: Client
  readonly figures: Record<string, Figure> = {}
  readonly escapes: Escapes = {}
  readonly #prefix: string
  readonly #close: () => Promise<void>

  private constructor({ fleet, proxy, context, receiver }: Parts, prefix: string, close: () => Promise<void>) {
    this.fleet = fleet
    this.proxy = proxy
    this.context = context
    this.receiver = receiver
    this.#prefix = prefix
    this.#close = close
    const [a = '', b = ''] = fleet.apiUrls
    this.client = new Client(proxy.url)
    this.a = new Client(a)
    this.b = new Client(b)
  }

  static async open({ env = {}, prefix = '' }: StageOptions = {}): Promise<Stage> {
    const { profile, remove } = temporaryProfile()
    const receiver = await Receiver.open()
    const tools = { NOTIFY_URL: receiver.url, APPROVE_TOOLS: 'notify,sql' }
    const [fleet, proxy, { context, close }] = await Promise.all([
      Fleet.start({ WORKER_CONCURRENCY: '32', LEASE_MS: String(LEASE_MS), ...tools, ...env }),
      RoundRobinProxy.open(new Map()),
      launchChromium(profile),
    ])
    proxy.serve(fleet.apis.map(({ port }) => port))
    context.setDefaultTimeout(SHOWN_MS_MAX)
    return new Stage({ fleet, proxy, context, receiver }, prefix, async () => {
      await close().finally(remove)
      await proxy.close()
      await receiver.close()
      await fleet.stop()
    })
  }

  /** What was measured, and how long it may take at most. Tests do not fail by time; the last one looks at all figures. */
  timed(name: string, ms: number, boundMs: number): void {
    this.figures[`${this.#prefix}${name}`] = { ms: Math.round(ms), boundMs }
  }

  counted(name: string, count: number): void {
    this.figures[`${this.#prefix}${name}`] = count
  }

  escaped(attempt: string, backend: string, outcome: string): void {
    this.escapes[attempt] = { ...this.escapes[attempt], [backend]: outcome }
  }

  /** What another stage has measured becomes part of the report of this one. */
  include({ figures }: Stage): void {
    Object.assign(this.figures, figures)
  }

  get tooSlow(): string[] {
    return Object.entries(this.figures).flatMap(([name, figure]) =>
      typeof figure === 'object' && figure.ms > figure.boundMs ? `${name}: ${figure.ms} ms, at most ${figure.boundMs}` : [],
    )
  }

  report(file: string, checks: readonly { name: string; result: string }[]): void {
    mkdirSync(dirname(file), { recursive: true })
    const { figures, tooSlow, escapes } = this
    writeFileSync(file, `${JSON.stringify({ node: process.version, checks, tooSlow, escapes, figures }, null, 2)}\n`)
  }

  /** The page of a session, through the load balancer. */
  async openSession(sessionId: string): Promise<Page> {
    const page = await this.context.newPage()
    await page.goto(`${this.proxy.url}/#${sessionId}`)
    return page
  }

  async ownerOf(run: string): Promise<string> {
    for (;;) {
      const { worker_id, status } = await this.a.run(run)
      if (worker_id !== null && status === 'running') return worker_id
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async replaceWorker(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const code = await this.fleet.endWorker(name, signal)
    await this.fleet.startWorker(`${name.replace(/\d+$/, '')}${this.#born++}`)
    return code
  }
  #born = 10

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

export function numbered(words: number): string {
  return Array.from({ length: words }, (_, i) => `word-${i + 1} `).join('')
}
