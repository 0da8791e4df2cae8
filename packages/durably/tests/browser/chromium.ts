// A real Chromium for tests: the one that CHROMIUM_PATH names, else the system's, else the one that npm brought
// (@sparticuz/chromium, unpacked once into node_modules/.cache). Nothing but Node and npm is needed, root may run it.
//   - Several processes may unpack at once: each into a directory of its own, the first one to finish gives it its name.
//   - What npm brought uses the libraries and fonts that came with it, so the system needs none.
//   - Every browser has a profile directory and a process group of its own; playwright ends it when this process dies.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'

const SYSTEM = [
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where it is, or will be once `unpackChromium` has been awaited. */
export function chromiumLaunchOptions(): LaunchOptions {
  const ownPath = systemChromium()
  const place = cacheDirectory()
  return {
    executablePath: ownPath ?? join(place, 'chromium'),
    env: ownPath ? definedEnv() : { ...definedEnv(), LD_LIBRARY_PATH: join(place, 'al2023', 'lib'), FONTCONFIG_PATH: join(place, 'fonts') },
    headless: true,
    chromiumSandbox: false,
    args: ['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  }
}

/** Does nothing where a Chromium is at hand. */
export async function unpackChromium(): Promise<void> {
  const place = cacheDirectory()
  if (systemChromium() || existsSync(place)) return
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('npm brings Chromium only for Linux on x64; install Chrome or Chromium and name it in CHROMIUM_PATH')
  mkdirSync(dirname(place), { recursive: true })
  const workshop = mkdtempSync(`${place}-`)
  try {
    // The package unpacks into the temporary directory of its process, and the libraries only where it believes to be in a Lambda.
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', UNPACK], {
      env: { ...process.env, TMPDIR: workshop, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x', SPARTICUZ: pathToFileURL(packageEntry()).href },
    })
    writeFileSync(join(workshop, 'fonts', 'fonts.conf'), FONTS)
    renameSync(workshop, place)
  } catch (error) {
    if (!existsSync(place)) throw error
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
}

const UNPACK = 'const { default: chromium } = await import(process.env.SPARTICUZ); await chromium.executablePath()'

/** Its own looks for the fonts in directories of a Lambda. */
const FONTS = '<?xml version="1.0"?><fontconfig><dir prefix="relative">fonts</dir></fontconfig>'

export interface TestBrowser {
  /** Its tabs share what an origin stores. */
  readonly context: BrowserContext
  /** Of the whole browser, as when the machine ends it: nobody is told. */
  sigkill(): Promise<void>
  close(): Promise<void>
}

/** A browser whose storage is `profile`: the next one with the same directory finds what this one left. */
export async function launchChromium(profile: string): Promise<TestBrowser> {
  await unpackChromium()
  const context = await chromium.launchPersistentContext(profile, chromiumLaunchOptions())
  const pid = await browserPid(context)
  return {
    context,
    async sigkill() {
      const closed = new Promise((resolve) => context.once('close', resolve))
      process.kill(-pid, 'SIGKILL')
      await closed
    },
    close: () => context.close(),
  }
}

/** A directory for a profile, and the function that removes it. */
export function temporaryProfile(): { profile: string; remove(): void } {
  const profile = mkdtempSync(join(tmpdir(), 'durably-chromium-'))
  return { profile, remove: () => rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) }
}

/** The leader of its process group. */
async function browserPid(context: BrowserContext): Promise<number> {
  const session = await context.browser()?.newBrowserCDPSession()
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {}
  const pid = processInfo.find(({ type }) => type === 'browser')?.id
  await session?.detach()
  if (!pid) throw new Error('Chromium does not say which process it is')
  return pid
}

function systemChromium(): string | undefined {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH && !existsSync(CHROMIUM_PATH)) throw new Error(`CHROMIUM_PATH names ${CHROMIUM_PATH}, which does not exist`)
  return CHROMIUM_PATH || SYSTEM.find((path) => existsSync(path))
}

function cacheDirectory(): string {
  const root = join(dirname(packageEntry()), '..', '..')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return join(root, '..', '..', '.cache', `durably-chromium-${version}`)
}

function packageEntry(): string {
  return createRequire(import.meta.url).resolve('@sparticuz/chromium')
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
