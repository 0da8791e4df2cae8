// Chromium, as far as the scenarios need it: open the page of a run, see what it shows, press Stop.
import type { Page } from 'playwright-core'
import { launchChromium as launch, temporaryProfile } from '../../dist/browser/chromium.js'

const SHOWN_MS_MAX = 60_000

export class Chromium implements AsyncDisposable {
  readonly #open: (url: string) => Promise<Page>
  readonly #close: () => Promise<void>

  private constructor(open: (url: string) => Promise<Page>, close: () => Promise<void>) {
    this.#open = open
    this.#close = close
  }

  static async launch(): Promise<Chromium> {
    const { profile, remove } = temporaryProfile()
    const { context, close } = await launch(profile)
    const open = async (url: string) => {
      const page = await context.newPage()
      await page.goto(url)
      return page
    }
    return new Chromium(open, () => close().finally(remove))
  }

  async open(url: string): Promise<RunPage> {
    return new RunPage(await this.#open(url))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

export class RunPage implements AsyncDisposable {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** The text that the page shows, as the status of the run or as the state of the connection. */
  async shows(word: string): Promise<void> {
    await this.#page.locator('p', { hasText: new RegExp(`\\b${word}\\b`) }).waitFor({ timeout: SHOWN_MS_MAX })
  }

  async transcript(): Promise<string> {
    return (await this.#page.locator('#transcript').textContent()) ?? ''
  }

  async stop(): Promise<void> {
    await this.#page.locator('#stop').click()
  }

  async reload(): Promise<void> {
    await this.#page.reload()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.close()
  }
}
