// StreamTexts — the text of each attempt of one stream, including what it took over from earlier attempts.
import { jsonCodec } from '../../model/codec.ts'
import { grouped, perHistory, type StreamAttempt, stepKey } from './history.ts'

const codec = jsonCodec()

/** Chunks as one text, in which two different outputs differ. */
export function flat(chunks: readonly unknown[]): string {
  return chunks.map((chunk) => (typeof chunk === 'string' ? chunk : `\u0001${codec.encode(chunk, 'chunk')}`)).join('')
}

interface Reached {
  generation: number
  /** Its place among all checkpoints of the stream. */
  place: number
  state: string
  text: string
  acknowledged: boolean
}

interface Lived {
  attempt: StreamAttempt
  /** The checkpoint that it resumed from: `null` for the beginning, `undefined` if there never was such a checkpoint. */
  from: Reached | null | undefined
  /** Everything, from the beginning of the stream. */
  text: string
}

export class StreamTexts {
  /** By generation. */
  readonly attempts: readonly Lived[]
  readonly #checkpoints: readonly Reached[]

  constructor(attempts: readonly StreamAttempt[]) {
    const lived: Lived[] = []
    const reached: Reached[] = []
    for (const attempt of attempts.toSorted((a, b) => a.generation - b.generation)) {
      const { generation, given, text, checkpoints } = attempt
      const from = given === null ? null : reached.findLast((one) => one.generation < generation && one.state === given)
      const before = from?.text ?? ''
      lived.push({ attempt, from, text: before + text })
      for (const { state, length, acknowledged } of checkpoints)
        reached.push({ generation, place: reached.length + 1, state, text: before + text.slice(0, length), acknowledged })
    }
    this.attempts = lived
    this.#checkpoints = reached
  }

  of(generation: number): string | undefined {
    return this.attempts.find(({ attempt }) => attempt.generation === generation)?.text
  }

  /** The place of the last acknowledged checkpoint of an earlier generation; 0 when there is none. */
  promisedBefore(generation: number): number {
    return this.#checkpoints.findLast((one) => one.generation < generation && one.acknowledged)?.place ?? 0
  }

  /** Whether this may be the text when this generation takes over: that of the last acknowledged checkpoint, or of a later one. */
  mayBeKept(generation: number, text: string): boolean {
    const promised = this.promisedBefore(generation)
    if (promised === 0 && text === '') return true
    return this.#checkpoints.some((one) => one.generation < generation && one.place >= promised && one.text === text)
  }
}

/** By run and name. */
export const streamTexts = perHistory(
  ({ ledger }): ReadonlyMap<string, StreamTexts> =>
    new Map(Array.from(grouped(ledger.streams ?? [], stepKey), ([stream, attempts]) => [stream, new StreamTexts(attempts)])),
)
