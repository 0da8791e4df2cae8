// The jobs of all tests, the same in a page and on a server. They wait where a test wants to look: the job `go` lets a run go on.
import { createDurably, type Durably, type Env } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { withLogPersistence } from '@coji/durably/plugins'
import { z } from 'zod'

export type TestJobs = ReturnType<typeof defineJobs>

declare module '../src/register.ts' {
  interface Register {
    jobs: TestJobs
  }
}

/** In memory. */
export function createTestDurably(options: { env?: Env; eventLog?: boolean } = {}): { durably: Durably; jobs: TestJobs } {
  const { env, eventLog = true } = options
  const store = memoryStore({ eventLog, ...(env && { env }) })
  const durably = createDurably({ concurrency: 100, logger: false, ...(env && { env }), store }).use(withLogPersistence())
  return { durably, jobs: defineJobs(durably) }
}

function defineJobs(durably: Durably) {
  const signals = new Signals()
  const nothing = z.object({})
  return {
    /** Lets a run that waits go on, once. */
    go: durably.defineJob({ name: 'go', input: z.object({ runId: z.string() }) }, async (_, { runId }) => signals.send(runId)),
    greet: durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, async (ctx, { name }) =>
      ctx.run('compose', () => ({ text: `Hello, ${name}!`, at: new Date(0) })),
    ),
    /** Waits in each of its steps; a stubborn one does not hear when it is asked to stop. */
    work: durably.defineJob(
      { name: 'work', input: z.object({ steps: z.number(), isStubborn: z.boolean().default(false) }) },
      async (ctx, { steps, isStubborn }) => {
        for (let step = 1; step <= steps; step++) {
          await ctx.run(`step ${step}`, ({ signal }) => signals.wait(ctx.runId, isStubborn ? undefined : signal))
          ctx.progress(step, steps)
          ctx.log.info(`step ${step} is done`, { step })
        }
        return steps
      },
    ),
    /** Waits between its words; the first attempt may be cut off. */
    talk: durably.defineJob({ name: 'talk', input: z.object({ words: z.array(z.string()) }) }, async (ctx, { words }) =>
      ctx.stream('answer', async (emit, _, { signal }) => {
        for (const word of words) {
          await emit(word)
          await signals.wait(ctx.runId, signal)
        }
      }),
    ),
    /** Fails until somebody lets it go. */
    flaky: durably.defineJob({ name: 'flaky', input: nothing }, async (ctx) => {
      if (!signals.take(ctx.runId)) throw new Error('not yet')
      return 'at last'
    }),
  }
}

/** Sent before or after somebody waits; each counts once. */
class Signals {
  readonly #sent = new Map<string, number>()
  readonly #waiting = new Map<string, () => void>()

  send(runId: string): void {
    this.#sent.set(runId, (this.#sent.get(runId) ?? 0) + 1)
    this.#waiting.get(runId)?.()
  }

  take(runId: string): boolean {
    const sent = this.#sent.get(runId) ?? 0
    if (sent > 0) this.#sent.set(runId, sent - 1)
    return sent > 0
  }

  async wait(runId: string, signal?: AbortSignal): Promise<void> {
    while (!this.take(runId)) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.set(runId, resolve)
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    }
  }
}
