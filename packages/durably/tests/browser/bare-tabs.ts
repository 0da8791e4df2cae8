// Tabs that a test can freeze as the browser does. Playwright tells every page of its own that it is seen, and Chromium freezes only what
// nobody sees: so these are opened, and spoken to, without it.
import { type CDPSession, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { chromiumLaunchOptions, unpackChromium } from './chromium.ts'
import { bundlePage, servePage } from './page-server.ts'
import type { Told } from './pages/counting.ts'

export interface BareTab {
  /** What this tab told. */
  readonly told: readonly Told[]
  evaluate<T, A>(work: (argument: A) => T | Promise<T>, argument: A): Promise<T>
  /** The page and its workers stand still; it keeps its locks and files. */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

/** Opens the counting page in a tab of its own; `name` is that of the test file. */
export async function bareTabs(name: string, dialect: string): Promise<() => Promise<BareTab>> {
  const server = await servePage(await bundlePage(name, new URL('./pages/counting.ts', import.meta.url)), { isolated: true })
  onTestFinished(() => server.close())
  await unpackChromium()
  const browser = await chromium.launch(chromiumLaunchOptions())
  onTestFinished(() => browser.close())
  const session = await browser.newBrowserCDPSession()
  return () => openTab(session, `${server.origin}/?dialect=${dialect}`)
}

async function openTab(session: CDPSession, url: string): Promise<BareTab> {
  const { targetId } = await session.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await session.send('Target.attachToTarget', { targetId })
  const told: Told[] = []
  const tab = new Commands(session, sessionId, (text) => told.push(JSON.parse(text)))
  await tab.send('Runtime.enable')
  await tab.send('Page.enable')
  await tab.send('Runtime.addBinding', { name: 'tellText' })
  await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: 'globalThis.tell = (told) => tellText(JSON.stringify(told))' })
  await tab.send('Page.navigate', { url })
  const evaluate: BareTab['evaluate'] = async (work, argument) => {
    const expression = `(${work})(${JSON.stringify(argument)})`
    const { result, exceptionDetails } = await tab.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result?.value as never
  }
  return {
    told,
    evaluate,
    freeze: async () => void (await tab.send('Page.setWebLifecycleState', { state: 'frozen' })),
    thaw: async () => void (await tab.send('Page.setWebLifecycleState', { state: 'active' })),
  }
}

interface Reply {
  result?: { value?: unknown }
  exceptionDetails?: { text: string; exception?: { description?: string } }
}

/** Playwright passes on the commands of sessions that it knows; to others they go in an envelope. */
class Commands {
  readonly #session: CDPSession
  readonly #sessionId: string
  readonly #waiting = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>()
  #sent = 0

  constructor(session: CDPSession, sessionId: string, onTold: (text: string) => void) {
    this.#session = session
    this.#sessionId = sessionId
    session.on('Target.receivedMessageFromTarget', ({ sessionId, message }) => {
      if (sessionId !== this.#sessionId) return
      const { id, result, error, method, params } = JSON.parse(message)
      if (method === 'Runtime.bindingCalled') onTold(params.payload)
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error) waiting?.reject(new Error(error.message))
      else waiting?.resolve(result)
    })
  }

  send(method: string, params: object = {}): Promise<Reply> {
    const id = ++this.#sent
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      const message = JSON.stringify({ id, method, params })
      this.#session.send('Target.sendMessageToTarget', { sessionId: this.#sessionId, message }).catch(reject)
    })
  }
}
