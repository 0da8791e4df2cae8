// The app as its users get it: the page is built, and `npm run agentic`'s program runs in a process of its own, on a SQLite file.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { expect, onTestFinished, vi } from 'vitest'
import { launchChromium, temporaryProfile } from '../../../../packages/durably/tests/browser/chromium.ts'

const PATIENCE_MS = 60_000
const UI = fileURLToPath(new URL('..', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../../dist/roles/main.js', import.meta.url))

export async function buildPage(): Promise<void> {
  // Vitest sets it to `test`, with which Vite would build for development.
  vi.stubEnv('NODE_ENV', 'production')
  await build({ root: UI, configFile: join(UI, 'vite.config.ts'), logLevel: 'error' })
  vi.unstubAllEnvs()
}

export class Site {
  readonly #folder = mkdtempSync(join(tmpdir(), 'agentic-page-'))
  readonly #more: Record<string, string>
  #process: ChildProcess | undefined
  address = ''

  /** `more`: variables beside those that every site has. */
  constructor(more: Record<string, string> = {}) {
    this.#more = more
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, ['--no-warnings', PROGRAM, 'start'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#process = child
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /^Agentic web: (\S+)/.exec(line) ?? []
      if (!url) continue
      this.address = url.replace('127.0.0.1', 'localhost')
      child.stdout.resume()
      return
    }
    throw new Error('the program ended before it said where it is')
  }

  /** Runs a command of the program beside it, and returns what it says. */
  async command(...words: string[]): Promise<string> {
    return (await promisify(execFile)(process.execPath, ['--no-warnings', PROGRAM, ...words], { env: this.#env })).stdout
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      DATABASE_URL: `file:${join(this.#folder, 'app.db')}`,
      AGENTIC_DATA: this.#folder,
      LEASE_MS: '2000',
      POLL_MS: '250',
      APPROVE_TOOLS: 'sql',
      PORT: new URL(this.address || 'http://localhost:0').port,
      ...this.#more,
    }
  }

  /** As when the machine goes off: nobody is told. */
  async kill(): Promise<void> {
    if (!this.#process) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
    this.#process = undefined
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export async function openBrowser(): Promise<BrowserContext> {
  const { profile, remove } = temporaryProfile()
  onTestFinished(remove)
  const { context, close } = await launchChromium(profile)
  onTestFinished(close)
  context.setDefaultTimeout(PATIENCE_MS)
  return context
}

/** No error of the page, and no request that leaves its origin, goes unnoticed. */
export async function openPage(context: BrowserContext, { address }: Site): Promise<Page> {
  const page = await context.newPage()
  const surprises: string[] = []
  page.on('pageerror', (error) => surprises.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) surprises.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(address)) surprises.push(request.url())
  })
  onTestFinished(() => expect(surprises).toEqual([]))
  await page.goto(address)
  return page
}
