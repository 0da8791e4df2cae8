// Requests to the API of this origin.
import type { ApiErrorBody, ApiErrorCode } from '../../../src/wire/service.ts'

export class ApiError extends Error {
  constructor(
    readonly code: ApiErrorCode | 'unreachable',
    message: string,
  ) {
    super(message)
  }
}

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
}

export async function request<T>(path: string, { method = 'GET', body, headers }: RequestOptions = {}): Promise<T> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const sent = fetch(`/api${path}`, { method, headers: { 'Content-Type': 'application/json', ...headers }, cache: 'no-store', ...json })
  const response = await sent.catch(() => {
    throw new ApiError('unreachable', 'The server cannot be reached. Check the connection and try again.')
  })
  if (!response.ok) throw told(await errorOf(response))
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T)
}

type Listener = () => void
let listener: Listener = () => {}

/** Called when the server no longer knows who asks. */
export function onSignedOut(called: Listener): void {
  listener = called
}

export function signedOut(): void {
  listener()
}

function told(error: ApiError): ApiError {
  if (error.code === 'signed_out') signedOut()
  return error
}

/** A proxy in between may answer with something that is not of the API. */
async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as Partial<ApiErrorBody> | null
  if (body?.error) return new ApiError(body.error.code, body.error.message)
  return new ApiError('unreachable', `The server answered with status ${response.status}. Try again in a moment.`)
}
