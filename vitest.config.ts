import { availableParallelism } from 'node:os'
import { playwright } from '@vitest/browser-playwright'
import sqlocal from 'sqlocal/vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestSpecification } from 'vitest/node'
import { chromiumLaunchOptions, temporaryProfile } from './packages/durably/tests/browser/chromium.ts'

/** Tests that run inside a page, and those that drive a whole browser from outside: kill it, open tabs. */
const IN_PAGE = 'packages/*/tests/**/*.browser.test.{ts,tsx}'
const ON_CHROMIUM = '{packages/*,examples/spa,apps/agentic-web/ui}/tests/**/*.chromium.test.ts'

/** Without them a page has no SharedArrayBuffer, and SQLocal no OPFS. */
const CROSS_ORIGIN_ISOLATION = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }

/** Named, so that no page is loaded again in the middle of a test because another test imports one of them for the first time. */
const IN_PAGE_PACKAGES = [
  ...['react', 'react/jsx-dev-runtime', 'react-dom/client', 'react-dom/server', 'vitest-browser-react'],
  ...['kysely', 'zod'],
  ...['lit', 'lit/async-directive.js', 'lit/directives/keyed.js', 'lit/directives/repeat.js', 'd3-scale', 'd3-shape'],
]

/**
 * For tests of whole browsers and of several processes, which wait for each other by the clock: a machine that stops for seconds makes one of
 * thousands late. What fails twice is broken, and what was tried again is printed.
 */
const SECOND_CHANCE = { retry: 1 }

/** Vitest itself says nothing of a test that passed when it was tried again. */
const sayWhatWasTriedAgain: Reporter = {
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) console.log(`passed only when it was tried again: ${test.module.relativeModuleId} > ${test.fullName}`)
  },
}

/** Without a profile Chromium keeps what an origin stores in its main process, and every access to a file in OPFS is a message to it. */
const { profile, remove: removeProfile } = temporaryProfile()
process.once('exit', removeProfile)

/** Up to minutes each. Begun last, as small files are, one of them would keep one core busy while the other has nothing left to do. */
const LONG = [
  'model/model.test.ts',
  'sql/contract.test.ts',
  'postgres/contract.test.ts',
  'contract.browser.test.ts',
  'tabs.chromium.test.ts',
  'sqlocal.chromium.test.ts',
  'torture.test.ts',
  'agentic-web/tests/fleet.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(name))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    reporters: ['default', sayWhatWasTriedAgain],
    sequence: { sequencer: LongestFirst },
    // One more than there are cores: tests of whole browsers and of several processes wait most of the time. Those of proof/ take the whole
    // machine, so package.json gives them no more than there are.
    maxWorkers: availableParallelism() + 1,
    // Runs that fail on purpose are logged, as everywhere. The OpenID provider of tests says that it is not one for production.
    onConsoleLog: (log) => !log.startsWith('durably: ') && !log.startsWith('oidc-provider WARNING'),
    projects: [
      {
        test: {
          name: 'engine',
          // Files share what they import: loading it anew for each took a quarter of the time. No test changes a module or a global for others.
          isolate: false,
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/tests/**/*.test.{ts,tsx}',
            'examples/**/*.test.ts',
            'bench/src/**/*.test.ts',
            'apps/agentic-web/ui/src/**/*.test.{ts,tsx}',
          ],
          exclude: [IN_PAGE, ON_CHROMIUM, '**/node_modules/**'],
          testTimeout: 60_000,
          globalSetup: ['packages/durably/tests/postgres/global-setup.ts'],
        },
      },
      {
        plugins: [sqlocal()],
        server: { headers: CROSS_ORIGIN_ISOLATION },
        // SQLite finds its wasm file beside itself.
        optimizeDeps: { include: IN_PAGE_PACKAGES, exclude: ['@sqlite.org/sqlite-wasm'] },
        test: {
          name: 'browser',
          include: [IN_PAGE],
          testTimeout: 60_000,
          globalSetup: ['packages/durably/tests/browser/global-setup.ts', 'packages/durably-react/tests/server-setup.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            // A profile is for one page at a time.
            fileParallelism: false,
            instances: [{ browser: 'chromium' }],
            provider: playwright({ launchOptions: chromiumLaunchOptions(), persistentContext: profile }),
          },
        },
      },
      {
        test: { name: 'chromium', include: [ON_CHROMIUM], testTimeout: 120_000, ...SECOND_CHANCE },
      },
      {
        // Several real processes each: on a busy machine an answer takes long.
        test: { name: 'agentic', include: ['apps/agentic-web/{tests,accept}/**/*.test.ts'], testTimeout: 60_000, ...SECOND_CHANCE },
      },
      {
        test: {
          name: 'proof',
          include: ['proof/src/**/*.test.ts'],
          // Builds of the engine, and of its mutants, are taken as they are.
          server: { deps: { external: [/\/dist\//, /\/\.mutants\//] } },
          testTimeout: 60_000,
          // Programs that take the whole machine: after everything else.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
