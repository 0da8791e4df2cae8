// StreamWriter — writes the output of one stream into the event log.
//   F4. Chunks are merged and written within 50 ms, together with those of other streams, or as soon as 4 KB wait; one write at a time.
//   F5. A checkpoint is written with all output before it, in one transaction; output after it is not kept for the next attempt.
//   F6. The step's record is written with the whole output as one chunk, which replaces all chunks before.
//   F7. What is left when the step fails or is interrupted is attached to the next write. A checkpoint that waits then is rejected: written
//       after the failure, it would be a checkpoint of no attempt.
//   F8. A function that returned in time is recorded, even if the time of its run is over while the record waits (X2 in execution.ts).
import type { Emitter } from '../../events/emitter.ts'
import { addChunk, joinChunks, lengthOf } from '../../model/chunks.ts'
import type { Codec } from '../../model/codec.ts'
import { DurablyError } from '../../model/errors.ts'
import type { RecordedPayload } from '../../model/event.ts'
import type { OpenStream } from '../../model/stream.ts'
import type { Execution } from '../execution.ts'
import type { FlushWindow } from './flush-window.ts'
import { streamsOf } from './unrecorded-streams.ts'

/** In characters, as they will be written. */
const FLUSH_SIZE = 4096
/** With this much unwritten output `emit` waits for the store. */
const WAITING_SIZE_MAX = 16 * FLUSH_SIZE

interface EncodedCheckpoint {
  state: string | null
  /** The length of the output when the checkpoint was made. */
  kept: number
}

export interface StreamWriterDeps {
  execution: Execution
  window: FlushWindow
  codec: Codec
  emitter: Emitter
  eventLog: boolean
  stepName: string
  /** The output of earlier attempts up to their last checkpoint. */
  kept: readonly unknown[]
}

export class StreamWriter {
  readonly #deps: StreamWriterDeps
  /** Everything up to `#written`. */
  #chunks: unknown[]
  #written: number
  #waiting: unknown[] = []
  #waitingLength = 0
  #waitingSize = 0
  #flushing: Promise<void> | null = null
  #failed: unknown
  #isClosed = false
  /** A chunk was refused because the run must stop. */
  #isIncomplete = false
  /** Called when the record has its place among the writes, or there is none. */
  #finished = () => {}
  /** The open stream as it was before the record that ends it. */
  #ended: OpenStream | undefined

  constructor(deps: StreamWriterDeps) {
    this.#deps = deps
    this.#chunks = [...deps.kept]
    this.#written = lengthOf(deps.kept)
  }

  async emit(chunk: unknown): Promise<void> {
    const { emitter, execution, stepName } = this.#deps
    this.#throwIfClosed()
    if (chunk === '') return
    const { value, size } = this.#snapshot(chunk)
    const { id: runId, jobName } = execution.run
    emitter.emit({ type: 'stream:chunk', runId, jobName, stepName, from: this.#putOut, chunks: [value] })
    addChunk(this.#waiting, value)
    this.#waitingLength += lengthOf([value])
    this.#waitingSize += size
    this.#flushSoon()
    while (this.#waitingSize >= WAITING_SIZE_MAX && this.#flushing) await this.#flushing
  }

  /** F5. */
  async checkpoint(state: unknown): Promise<void> {
    const { codec, stepName } = this.#deps
    this.#throwIfClosed()
    const encoded = codec.encode(state, `the checkpoint of stream ${JSON.stringify(stepName)}`)
    const kept = this.#putOut
    while (this.#flushing) await this.#flushing
    this.#throwIfStopped()
    await this.#begin({ state: encoded, kept })
    this.#throwIfStopped()
  }

  /** The function has returned. True when the record replaces earlier chunks. */
  async finish(): Promise<boolean> {
    const { execution, stepName } = this.#deps
    this.#stop()
    const finished = new Promise<void>((resolve) => {
      this.#finished = resolve
    })
    execution.finishing = Promise.resolve(execution.finishing).then(() => finished)
    while (this.#flushing) await this.#flushing
    // A function that was asked to stop but returned has completed, unless the end of its output was refused.
    if (this.#isIncomplete || this.#failed !== undefined) this.#throwIfStopped()
    this.#ended = streamsOf(execution).get(stepName)
    return this.#ended !== undefined
  }

  /** F6. */
  attachToRecord(): () => void {
    const { execution, eventLog, stepName } = this.#deps
    const chunks = joinChunks(this.#chunks, this.#waiting)
    if (eventLog && (this.#ended || chunks.length > 0))
      this.#attachChunk({ from: 0, chunks: this.#encode(chunks), ...stateOf(this.#ended) })
    streamsOf(execution).delete(stepName)
    this.#finished()
    return () => this.#setOpen(this.#ended)
  }

  /** F7. */
  giveUp(): void {
    this.#stop()
    this.#finished()
    // After a rejected write the output would have a gap.
    if (this.#failed !== undefined) return
    try {
      this.#attach(null)
    } catch {
      // The step has failed already; that its last output cannot be stored does not matter.
    }
    this.#failed = this.#hasEnded()
  }

  get #putOut(): number {
    return this.#written + this.#waitingLength
  }

  #throwIfClosed(): void {
    this.#isIncomplete ||= this.#deps.execution.interrupted !== null
    this.#throwIfStopped()
    if (this.#isClosed) throw this.#hasEnded()
  }

  #hasEnded(): DurablyError {
    const { stepName } = this.#deps
    return new DurablyError('context_closed', `stream ${JSON.stringify(stepName)} has already ended; await everything that emits`)
  }

  #throwIfStopped(): void {
    this.#deps.execution.throwIfInterrupted()
    if (this.#failed !== undefined) throw this.#failed
  }

  #stop(): void {
    this.#isClosed = true
    this.#deps.window.delete(this.#flushNow)
  }

  /** A copy, so that later changes of the object do not change what was emitted. */
  #snapshot(chunk: unknown): { value: unknown; size: number } {
    if (typeof chunk === 'string') return { value: chunk, size: chunk.length }
    const { codec, stepName } = this.#deps
    const text = codec.encode(chunk, `a chunk of stream ${JSON.stringify(stepName)}`)
    return { value: codec.decode(text), size: text?.length ?? 1 }
  }

  #flushSoon(): void {
    if (this.#waiting.length === 0 || this.#flushing || this.#isClosed || this.#failed !== undefined) return
    if (this.#waitingSize >= FLUSH_SIZE) return void this.#begin(null)
    this.#deps.window.add(this.#flushNow)
  }

  readonly #flushNow = () => {
    if (!this.#flushing) void this.#begin(null)
  }

  /** F4. One write at a time; what was emitted meanwhile follows. */
  #begin(checkpoint: EncodedCheckpoint | null): Promise<void> {
    this.#deps.window.delete(this.#flushNow)
    this.#flushing = this.#flush(checkpoint).finally(() => {
      this.#flushing = null
      this.#flushSoon()
    })
    return this.#flushing
  }

  async #flush(checkpoint: EncodedCheckpoint | null): Promise<void> {
    const { execution, stepName } = this.#deps
    try {
      const accepted = await execution.owner.write({ type: 'heartbeat' }, () => {
        const before = streamsOf(execution).get(stepName)
        this.#attach(checkpoint)
        return () => this.#setOpen(before)
      })
      if (!accepted) {
        this.#stop()
        this.#failed = this.#hasEnded()
      }
    } catch (error) {
      this.#failed = error
    }
  }

  #attach(checkpoint: EncodedCheckpoint | null): void {
    if (this.#waiting.length === 0 && !checkpoint) return
    const { execution, stepName } = this.#deps
    const from = this.#written
    const open = streamsOf(execution).get(stepName)
    const encoded = this.#encode(this.#waiting)
    this.#chunks = joinChunks(this.#chunks, this.#waiting)
    this.#written = this.#putOut
    this.#waiting = []
    this.#waitingLength = 0
    this.#waitingSize = 0
    if (checkpoint) {
      this.#attachChunk({ from, chunks: encoded, state: checkpoint.state })
      streamsOf(execution).set({ stepName, ...checkpoint })
    } else {
      // What begins at 0 replaces everything (F1), also a checkpoint that was made before any output.
      this.#attachChunk({ from, chunks: encoded, ...(from === 0 && stateOf(open)) })
      if (!open) streamsOf(execution).set({ stepName, kept: 0, state: null })
    }
  }

  #setOpen(open: OpenStream | undefined): void {
    const { execution, stepName } = this.#deps
    if (open) streamsOf(execution).set(open)
    else streamsOf(execution).delete(stepName)
  }

  #encode(chunks: readonly unknown[]): string | null {
    return this.#deps.codec.encode(chunks, `the output of stream ${JSON.stringify(this.#deps.stepName)}`)
  }

  #attachChunk(payload: RecordedPayload): void {
    const { execution, stepName } = this.#deps
    execution.attach('stream:chunk', { generation: execution.generation, stepName, ...payload })
  }
}

function stateOf(open: OpenStream | undefined): Pick<RecordedPayload, 'state'> {
  return open && open.state !== null ? { state: open.state } : {}
}
