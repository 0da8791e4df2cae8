// ChildRuns — the runs that a run has triggered, as a tree of which each level is read when somebody opens it.
import type { DurablyClient, Run } from '@coji/durably/client'
import { repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

export const CHILDREN_MAX = 50
const READ_AGAIN_MS = 3000

export interface ChildPage {
  readonly runs: readonly Run[]
  readonly hasMore: boolean
}

export class ChildRuns {
  /** The children that were read, by the id of their parent. */
  readonly pages = new Map<string, ChildPage>()
  readonly opened: Set<string>
  error: string | null = null

  readonly #client: DurablyClient
  readonly #changed: () => void
  readonly #ended = new AbortController()

  constructor(client: DurablyClient, rootId: string, changed: () => void) {
    this.#client = client
    this.#changed = changed
    this.opened = new Set([rootId])
  }

  async start(): Promise<void> {
    await this.#read()
    await repeatedly(
      () => READ_AGAIN_MS,
      this.#ended.signal,
      () => this.#read(),
    )
  }

  stop(): void {
    this.#ended.abort()
  }

  toggle(id: string): void {
    if (!this.opened.delete(id)) this.opened.add(id)
    this.#changed()
    void this.#read()
  }

  async #read(): Promise<void> {
    try {
      for (const parentRunId of this.opened) {
        const runs = await this.#client.getRuns({ parentRunId, values: false, limit: CHILDREN_MAX + 1 })
        this.pages.set(parentRunId, { runs: runs.slice(0, CHILDREN_MAX).reverse(), hasMore: runs.length > CHILDREN_MAX })
      }
      this.error = null
    } catch (error) {
      this.error = errorText(error)
    }
    if (!this.#ended.signal.aborted) this.#changed()
  }
}
