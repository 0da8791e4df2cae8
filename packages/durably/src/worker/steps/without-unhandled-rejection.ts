/** A call of `ctx` that nobody awaits must not end the process as an unhandled rejection. Whoever awaits it still gets its error. */
export function withoutUnhandledRejection<T>(result: Promise<unknown>): Promise<T> {
  result.catch(() => {})
  return result as Promise<T>
}
