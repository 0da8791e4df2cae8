/** Calls what a program gave us to be told of trouble, such as its logger. What it throws, and what its promise rejects with, has nowhere to go. */
export function tell(call: () => unknown): void {
  try {
    const answer = call()
    if (answer instanceof Promise) answer.catch(() => {})
  } catch {}
}
