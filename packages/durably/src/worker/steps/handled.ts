/** Who does not wait for a call of `ctx` must not bring the process down when it fails. */
export function handled<T>(result: Promise<unknown>): Promise<T> {
  result.catch(() => {})
  return result as Promise<T>
}
