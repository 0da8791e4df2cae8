// UnrecordedStreams — the streams of one execution that have begun and are not recorded, as the row of the run has them.
import type { RunRow } from '../../model/run.ts'
import { decodeStreams, encodeStreams, type OpenStream } from '../../model/stream.ts'
import type { Execution } from '../execution.ts'
import type { Owner } from '../lease/owner.ts'

export class UnrecordedStreams {
  readonly #open: Map<string, OpenStream>
  readonly #owner: Owner

  constructor(run: RunRow, owner: Owner) {
    this.#open = new Map(decodeStreams(run.streams).map((stream) => [stream.stepName, stream]))
    this.#owner = owner
  }

  get(stepName: string): OpenStream | undefined {
    return this.#open.get(stepName)
  }

  /** Stored with the next write. */
  set(stream: OpenStream): void {
    this.#open.set(stream.stepName, stream)
    this.#owner.attachments.streams = encodeStreams(this.#open.values())
  }

  /** Stored with the next write. */
  delete(stepName: string): void {
    if (this.#open.delete(stepName)) this.#owner.attachments.streams = encodeStreams(this.#open.values())
  }
}

export function streamsOf(execution: Execution): UnrecordedStreams {
  execution.streams ??= new UnrecordedStreams(execution.run, execution.owner)
  return execution.streams
}
