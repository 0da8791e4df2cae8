// Archiving — when old histories are moved to files: in the background, so that no run waits for a disk or a network.
import type { Env } from '../model/env.ts'
import type { Archiver } from './archiver.ts'

const EVERY_MS = 60_000

export class Archiving {
  readonly #env: Env
  readonly #archiver: Pick<Archiver, 'page'>
  #againAt = Number.NEGATIVE_INFINITY
  #underWay: Promise<void> | null = null
  #isStopping = false

  constructor(env: Env, archiver: Pick<Archiver, 'page'>) {
    this.#env = env
    this.#archiver = archiver
  }

  /** Begins if it is time; returns in how many ms to call it again. Page follows page while `isStarted`. */
  look(isStarted: () => boolean): number {
    const { mono } = this.#env
    if (!this.#underWay && mono() >= this.#againAt) {
      this.#isStopping = false
      this.#underWay = this.#work(isStarted).finally(() => {
        this.#underWay = null
      })
    }
    return this.#underWay ? EVERY_MS : this.#againAt - mono()
  }

  /** Lets the file that is being written be finished, and begins no other. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#underWay
  }

  /** Resolves when what was begun is done. */
  async settled(): Promise<void> {
    await this.#underWay
  }

  async #work(isStarted: () => boolean): Promise<void> {
    const isWanted = () => !this.#isStopping
    let hasMore = true
    do hasMore = await this.#archiver.page(isWanted)
    while (hasMore && isStarted() && isWanted())
    this.#againAt = this.#env.mono() + (hasMore ? 0 : EVERY_MS)
  }
}
