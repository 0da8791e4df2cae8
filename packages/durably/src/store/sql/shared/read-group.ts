// ReadGroup — reads that are asked for at the same time are one statement.
//   G1. Reads of one turn share a statement. None joins one that was sent before, which may not show yet what the caller was woken for.
//   G2. Equal reads are sent once. Each caller gets the rows as they came, and makes objects of its own of them.
//   G3. If the statement fails, it fails for all; each caller decides whether it asks again.
import type { Row } from './session.ts'

/** The most reads in one statement: each may return a page. */
const GROUP_MAX = 50

export interface ReadGroupDeps<Asked> {
  /** Equal reads have the same text. */
  textOf: (asked: Asked) => string
  /** Each row has the position of its read as `place`, from 1. */
  read: (asked: readonly Asked[]) => Promise<Row[]>
}

interface Group<Asked> {
  members: Map<string, Asked>
  read: Promise<ReadonlyMap<string, Row[]>>
}

export class ReadGroup<Asked> {
  readonly #deps: ReadGroupDeps<Asked>
  /** The group that the next read joins. */
  #open: Group<Asked> | null = null

  constructor(deps: ReadGroupDeps<Asked>) {
    this.#deps = deps
  }

  async rows(asked: Asked): Promise<Row[]> {
    const text = this.#deps.textOf(asked)
    const isFull = this.#open?.members.size === GROUP_MAX && !this.#open.members.has(text)
    if (!this.#open || isFull) this.#open = this.#begin()
    const { members, read } = this.#open
    members.set(text, asked)
    return (await read).get(text) ?? []
  }

  #begin(): Group<Asked> {
    const members = new Map<string, Asked>()
    // G1. The other reads of this turn come first.
    const read = Promise.resolve().then(() => {
      if (this.#open?.members === members) this.#open = null
      return this.#send(members)
    })
    return { members, read }
  }

  async #send(members: ReadonlyMap<string, Asked>): Promise<ReadonlyMap<string, Row[]>> {
    const texts = [...members.keys()]
    const found = new Map<string, Row[]>(texts.map((text) => [text, []]))
    for (const row of await this.#deps.read([...members.values()])) found.get(texts[Number(row.place) - 1] ?? '')?.push(row)
    return found
  }
}
