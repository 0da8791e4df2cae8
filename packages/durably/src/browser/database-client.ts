// DatabaseClient — sends an instance's calls to the tab that has the database open, the host, whichever tab that is.
//   L1. One call is under way at a time. Its answer settles it, or the loss of the host does.
//   L2. Calls wait while there is no host. A call that is under way when its host dies may have taken effect: it rejects with an error
//       after which it may be sent again (R3, R6). The client sends it again by itself if it only reads, or if the host said goodbye
//       before it executed the call.
//   L3. A transaction stays with the host where it began: after a change of the host its later statements are refused.
//   L4. A host that does not answer is asked to say hello. If it does not, its tab is frozen: the call rejects, and nothing is sent
//       until the host sends something again.
import { type Env, type TimerHandle, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type Answer, BYE, type Call, type Channel, type HubMessage, placeNames, type Result, type Welcome } from './protocol.ts'

/** A host that is not frozen answers a hello at once, or after the statement that it executes. */
const SILENCE_MS = 5000

type Request = Omit<Call, 'call'>

interface Pending {
  call: number
  onlyReads: boolean
  /** `null`: the call was not executed. */
  resolve(results: readonly Result[] | null): void
  reject(error: unknown): void
}

interface DatabaseClientDeps {
  name: string
  guest: string
  env: Env
  /** This instance has the lock, so no other tab can be the host. */
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
  /** The turn that has the connection, and the host when it began (L3). */
  #turn = 0
  #turnHost: string | null = null
  #failure: DurablyError | null = null
  #onMessage: () => void = () => {}
  /** Resolves when the host sends something next. */
  #nextMessage: Promise<void>
  #isClosed = false

  constructor(deps: DatabaseClientDeps) {
    this.#deps = deps
    this.#names = placeNames(deps.name)
    this.#nextMessage = this.#expectMessage()
    this.#hub = new BroadcastChannel(this.#names.hub)
    this.#hub.onmessage = ({ data }: MessageEvent<HubMessage>) => {
      if (data.type === 'host') this.#sayHello()
    }
    this.#own = new BroadcastChannel(this.#names.guest(deps.guest))
    this.#own.onmessage = ({ data }: MessageEvent<Answer | Welcome | typeof BYE>) => this.#receive(data)
    this.#sayHello()
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

  /** Whether a tab has the database open and answers. */
  async isAnswered(): Promise<boolean> {
    if (this.#channel && this.#channel !== this.#own) return true
    this.#sayHello()
    const isHeard = await within(this.#deps.env, SILENCE_MS, this.#nextMessage)
    // While this tab opens the database, the host is not frozen.
    this.#isSilent = !isHeard && !this.#deps.isHost()
    return !this.#isSilent
  }

  /** The database was opened in a worker of this instance. */
  useOwn(port: MessagePort): void {
    port.onmessage = ({ data }) => this.#receive(data)
    this.#connect(port, this.#deps.guest)
  }

  /** The database could not be opened in this instance, or its worker failed. */
  fail(error: DurablyError): void {
    if (this.#host === this.#deps.guest) this.#lose(false)
    this.#failure = error
    this.#hostSpoke()
  }

  close(): void {
    this.#isClosed = true
    this.#channel?.postMessage(BYE)
    this.#lose(false)
    this.#own.close()
    this.#hub.close()
    this.#hostSpoke()
  }

  async #reached(): Promise<void> {
    const { env, isHost } = this.#deps
    for (let asked = 0; ; asked++) {
      if (this.#isClosed) throw new DurablyError('store_closed', 'the database is closed')
      if (this.#failure) throw this.#takeFailure(this.#failure)
      if (this.#channel && !this.#isSilent) return
      if (asked === 2) break
      this.#sayHello()
      await within(env, SILENCE_MS, this.#nextMessage)
    }
    if (isHost()) throw new DurablyError('store_unavailable', 'the database is still being opened')
    this.#isSilent = true
    throw hostFrozen()
  }

  /** The first call gets the failure; the next one tries again. */
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
    const watchAgain = () => {
      timer = env.timer(SILENCE_MS, () => {
        this.#sayHello()
        void within(env, SILENCE_MS, this.#nextMessage).then((isHeard) => {
          if (this.#pending?.call !== call) return
          if (isHeard) return watchAgain()
          this.#isSilent = true
          this.#pending.reject(hostFrozen())
        })
      })
    }
    watchAgain()
    return { stop: () => env.clear(timer) }
  }

  #receive(message: Answer | Welcome | typeof BYE): void {
    if (message === BYE) return this.#lose(true)
    if ('host' in message) {
      if (this.#host !== message.host) this.#connect(this.#own, message.host)
      this.#hostSpoke()
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
    this.#hostSpoke()
  }

  /** An instance holds this lock from before it becomes the host until it dies, so to get the lock means that the host is dead. */
  #watchHost(host: string): void {
    const { signal } = this.#hostWatch
    const dies = () => {
      if (!signal.aborted) this.#lose(false)
    }
    navigator.locks.request(this.#names.guest(host), { mode: 'shared', signal }, dies).catch(() => {})
  }

  /** `isUndone`: the host said goodbye, so it did not execute the call that it did not answer. */
  #lose(isUndone: boolean): void {
    if (this.#channel !== this.#own) this.#channel?.close()
    this.#channel = null
    this.#host = null
    this.#hostWatch.abort()
    this.#hostWatch = new AbortController()
    if (isUndone || this.#pending?.onlyReads) this.#pending?.resolve(null)
    else this.#pending?.reject(gone())
  }

  #sayHello(): void {
    if (!this.#isClosed) this.#hub.postMessage({ type: 'guest', guest: this.#deps.guest } satisfies HubMessage)
  }

  #hostSpoke(): void {
    this.#isSilent = false
    const onMessage = this.#onMessage
    this.#nextMessage = this.#expectMessage()
    onMessage()
  }

  #expectMessage(): Promise<void> {
    return new Promise((resolve) => {
      this.#onMessage = resolve
    })
  }
}

export function hostFrozen(): DurablyError {
  return new DurablyError(
    'host_frozen',
    'the tab that has the database open does not answer: the browser has frozen it. It answers again, or another tab takes over, when that tab is shown or closed',
  )
}

function gone(): DurablyError {
  return new DurablyError('store_unavailable', 'the tab that had the database open is gone; the last call may have taken effect')
}
