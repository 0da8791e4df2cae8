// DatabaseClient — an instance's way to the database, in whichever tab that is open at the moment.
//   L1. One call at a time. Its answer settles it, or the end of the channel.
//   L2. Calls wait while there is no host. The one under way when its host dies may have taken effect: it rejects with an error
//       that passes (R3, R6). It is made again if it only reads, or if the host said before it closed that it had not come to it.
//   L3. A transaction does not change its host: what comes later for it is refused.
//   L4. A host that does not answer is greeted. If it stays silent its tab is frozen: the call rejects, and nothing more is sent
//       until it speaks again.
import { type Env, type TimerHandle, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type Answer, BYE, type Call, type Channel, type HubMessage, placeNames, type Result, type Welcome } from './protocol.ts'

/** A host that is alive answers a greeting at once, but for the time of one statement. */
const SILENCE_MS = 5000

type Request = Omit<Call, 'call'>

interface Pending {
  call: number
  onlyReads: boolean
  /** `null`: it was not done. */
  resolve(results: readonly Result[] | null): void
  reject(error: unknown): void
}

interface DatabaseClientDeps {
  name: string
  guest: string
  env: Env
  /** This instance has the lock, so nobody else can be the host. */
  isHost(): boolean
}

export class DatabaseClient {
  readonly #deps: DatabaseClientDeps
  readonly #names: ReturnType<typeof placeNames>
  readonly #hub: BroadcastChannel
  readonly #own: BroadcastChannel
  #channel: Channel | null = null
  #host: string | null = null
  #hostWatch = new AbortController()
  #isSilent = false
  #pending: Pending | null = null
  #calls = 0
  /** Whose turn it is, and who was the host when it began. */
  #turn = 0
  #turnHost: string | null = null
  #failure: DurablyError | null = null
  #sign: () => void = () => {}
  #signs: Promise<void>
  #isClosed = false

  constructor(deps: DatabaseClientDeps) {
    this.#deps = deps
    this.#names = placeNames(deps.name)
    this.#signs = this.#nextSign()
    this.#hub = new BroadcastChannel(this.#names.hub)
    this.#hub.onmessage = ({ data }: MessageEvent<HubMessage>) => {
      if (data.type === 'host') this.#greet()
    }
    this.#own = new BroadcastChannel(this.#names.guest(deps.guest))
    this.#own.onmessage = ({ data }: MessageEvent<Answer | Welcome | typeof BYE>) => this.#hear(data)
    this.#greet()
  }

  get isSilent(): boolean {
    return this.#isSilent
  }

  async call(request: Request): Promise<readonly Result[]> {
    const isFirst = request.turn !== this.#turn
    this.#turn = request.turn
    for (;;) {
      await this.#reached()
      if (isFirst) this.#turnHost = this.#host
      const channel = this.#turnHost === this.#host ? this.#channel : null
      const results = channel && (await this.#send(channel, request))
      if (results) return results
      if (!isFirst) throw gone()
    }
  }

  /** Whether somebody has the database open and answers. */
  async isAnswered(): Promise<boolean> {
    if (this.#channel && this.#channel !== this.#own) return true
    this.#greet()
    const isHeard = await within(this.#deps.env, SILENCE_MS, this.#signs)
    // What is being opened here is not frozen.
    this.#isSilent = !isHeard && !this.#deps.isHost()
    return !this.#isSilent
  }

  /** The database is open in a worker of this instance. */
  useOwn(port: MessagePort): void {
    port.onmessage = ({ data }) => this.#hear(data)
    this.#connect(port, this.#deps.guest)
  }

  /** It could not be opened here, or its worker broke down. */
  fail(error: DurablyError): void {
    if (this.#host === this.#deps.guest) this.#lose(false)
    this.#failure = error
    this.#speak()
  }

  close(): void {
    this.#isClosed = true
    this.#channel?.postMessage(BYE)
    this.#lose(false)
    this.#own.close()
    this.#hub.close()
    this.#speak()
  }

  async #reached(): Promise<void> {
    const { env, isHost } = this.#deps
    for (let asked = 0; ; asked++) {
      if (this.#isClosed) throw new DurablyError('store_closed', 'the database is closed')
      if (this.#failure) throw this.#takeFailure(this.#failure)
      if (this.#channel && !this.#isSilent) return
      if (asked === 2) break
      this.#greet()
      await within(env, SILENCE_MS, this.#signs)
    }
    if (isHost()) throw new DurablyError('store_unavailable', 'the database is still being opened')
    this.#isSilent = true
    throw hostFrozen()
  }

  /** Told once, to whoever asks first; then it is tried again. */
  #takeFailure(failure: DurablyError): DurablyError {
    this.#failure = null
    return failure
  }

  #send(channel: Channel, request: Request): Promise<readonly Result[] | null> {
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      const watch = channel === this.#own ? this.#watch(call) : null
      const settle = () => {
        watch?.stop()
        this.#pending = null
      }
      this.#pending = {
        call,
        onlyReads: request.statements.every(({ sql }) => /^\s*select\b/i.test(sql)),
        resolve(results) {
          settle()
          resolve(results)
        },
        reject(error) {
          settle()
          reject(error)
        },
      }
      channel.postMessage({ call, ...request } satisfies Call)
    })
  }

  #watch(call: number): { stop(): void } {
    const { env } = this.#deps
    let timer: TimerHandle
    const greetLater = () => {
      timer = env.timer(SILENCE_MS, () => {
        this.#greet()
        void within(env, SILENCE_MS, this.#signs).then((isHeard) => {
          if (this.#pending?.call !== call) return
          if (isHeard) return greetLater()
          this.#isSilent = true
          this.#pending.reject(hostFrozen())
        })
      })
    }
    greetLater()
    return { stop: () => env.clear(timer) }
  }

  #hear(message: Answer | Welcome | typeof BYE): void {
    if (message === BYE) return this.#lose(true)
    if ('host' in message) {
      if (this.#host !== message.host) this.#connect(this.#own, message.host)
      this.#speak()
    } else if (this.#pending?.call === message.call) {
      if ('results' in message) this.#pending.resolve(message.results)
      else this.#pending.reject(new Error(message.error))
    }
  }

  #connect(channel: Channel, host: string): void {
    this.#lose(false)
    this.#channel = channel
    this.#host = host
    this.#failure = null
    if (channel === this.#own) this.#watchHost(host)
    this.#speak()
  }

  /** It held this lock before it became the host, and holds it as long as it lives. */
  #watchHost(host: string): void {
    const { signal } = this.#hostWatch
    const dies = () => {
      if (!signal.aborted) this.#lose(false)
    }
    navigator.locks.request(this.#names.guest(host), { mode: 'shared', signal }, dies).catch(() => {})
  }

  /** `isUndone`: the host closed in good order, and has not come to what it did not answer. */
  #lose(isUndone: boolean): void {
    if (this.#channel !== this.#own) this.#channel?.close()
    this.#channel = null
    this.#host = null
    this.#hostWatch.abort()
    this.#hostWatch = new AbortController()
    if (isUndone || this.#pending?.onlyReads) this.#pending?.resolve(null)
    else this.#pending?.reject(gone())
  }

  #greet(): void {
    if (!this.#isClosed) this.#hub.postMessage({ type: 'guest', guest: this.#deps.guest } satisfies HubMessage)
  }

  #speak(): void {
    this.#isSilent = false
    const told = this.#sign
    this.#signs = this.#nextSign()
    told()
  }

  #nextSign(): Promise<void> {
    return new Promise((resolve) => {
      this.#sign = resolve
    })
  }
}

export function hostFrozen(): DurablyError {
  return new DurablyError(
    'host_frozen',
    'the tab that has the database open does not answer: the browser has frozen it. It goes on when that tab is shown or closed',
  )
}

function gone(): DurablyError {
  return new DurablyError('store_unavailable', 'the tab that had the database open is gone; what it was asked to do may have been done')
}
