// The options of `durablyHandler`, their defaults and their limits.
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { tell } from '../model/tell.ts'
import { type Authorize, mayLookAtValues } from './authorize.ts'

/** The options of `durablyHandler`. Only `authorize` is required. */
export interface ServerOptions {
  /**
   * Decides who may do what. It is called for every request, and again while a stream is open. `allowAll()` allows everything to everybody.
   */
  authorize: Authorize
  /**
   * Whether `authorize` decides by the `payload` or `output` of a run. If it does not, say false: then a list that is asked for without values does not
   * read them. Default true; false with `allowAll()`.
   */
  authorizesByValues?: boolean
  /** The path under which the routes are mounted, for example `/api/durably`. Default `/`. */
  basePath?: string
  /**
   * Returns who calls, for example the id of the user. Each principal has idempotency and concurrency keys of its own, and its own limit of
   * open streams. Default: all callers are one.
   */
  principal?: (request: Request) => string | Promise<string>
  /** How many streams one principal may have open. Default 100; without `principal`, 1000 for all callers together. */
  maxStreams?: number
  /** Other origins whose pages may change something, for example `https://app.example.com`. Default: only the server's own. */
  allowedOrigins?: readonly string[]
  /** How large the body of a request may be, in bytes. Default 1 MiB. */
  maxBodyBytes?: number
  /** How deep the JSON of a body may be nested. Default 64. */
  maxJsonDepth?: number
  /** Whether a caller sees the stacks and causes of failures, or only their name, code and message. Default false. */
  exposeFailures?: boolean | ((request: Request) => boolean | Promise<boolean>)
  /** Whether this process executes runs, so that `/ready` waits for `durably.start()`. Default true. */
  executes?: boolean
  /** Called with errors whose details are not sent to the caller. What it throws itself is ignored. Default: `console.error`. */
  onError?: (error: unknown, request: Request) => void
}

const SERVER_OPTIONS: KeysOf<ServerOptions> = {
  authorize: 1,
  authorizesByValues: 1,
  basePath: 1,
  principal: 1,
  maxStreams: 1,
  allowedOrigins: 1,
  maxBodyBytes: 1,
  maxJsonDepth: 1,
  exposeFailures: 1,
  executes: 1,
  onError: 1,
}

export interface ServerConfig extends Required<Omit<ServerOptions, 'principal' | 'allowedOrigins' | 'exposeFailures'>> {
  principal: ServerOptions['principal']
  allowedOrigins: ReadonlySet<string>
  exposeFailures: (request: Request) => boolean | Promise<boolean>
}

export function readOptions(options: ServerOptions): ServerConfig {
  if (typeof options?.authorize !== 'function') {
    throw new DurablyError('invalid_config', 'durablyHandler needs { authorize }: a function, or allowAll() to allow everybody everything')
  }
  checkKeys('durablyHandler', options, SERVER_OPTIONS, 'invalid_config')
  const { authorize, principal, basePath = '/', allowedOrigins = [], exposeFailures = false } = options
  return {
    authorize,
    authorizesByValues: options.authorizesByValues ?? mayLookAtValues(authorize),
    principal,
    basePath: readBasePath(basePath),
    allowedOrigins: new Set(allowedOrigins.map(readOrigin)),
    maxStreams: atLeastOne('maxStreams', options.maxStreams ?? (principal ? 100 : 1000)),
    maxBodyBytes: atLeastOne('maxBodyBytes', options.maxBodyBytes ?? 1024 * 1024),
    maxJsonDepth: atLeastOne('maxJsonDepth', options.maxJsonDepth ?? 64),
    exposeFailures: typeof exposeFailures === 'function' ? exposeFailures : () => exposeFailures,
    executes: options.executes ?? true,
    onError: readOnError(options.onError),
  }
}

export function readOnError(given: ServerOptions['onError']): ServerConfig['onError'] {
  const onError = given ?? ((error: unknown) => console.error(error))
  return (error, request) => tell(() => onError(error, request))
}

/** Without a slash at its end: `''` for the root. */
function readBasePath(path: string): string {
  if (!path.startsWith('/')) throw new DurablyError('invalid_config', `basePath must begin with "/", got ${JSON.stringify(path)}`)
  return path.replace(/(?<!\/)\/+$/, '')
}

function readOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : null
  if (origin === null || origin === 'null')
    throw new DurablyError(
      'invalid_config',
      `allowedOrigins must be origins such as "https://app.example.com", got ${JSON.stringify(text)}`,
    )
  return origin
}

export function atLeastOne(field: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new DurablyError('invalid_config', `${field} must be a whole number of at least 1, got ${value}`)
  return value
}
