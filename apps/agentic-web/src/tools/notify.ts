// Sends a message to the address that the operator gave. The only tool that acts on the world.

export interface Notification {
  url: string
  text: string
  /** Whoever receives it may use it to recognize a message that came twice by another way. */
  idempotencyKey: string
  timeoutMs: number
  signal: AbortSignal
}

/** What the model is told. It rejects only when the run must stop. */
export async function notify({
  url,
  text,
  idempotencyKey,
  timeoutMs,
  signal,
}: Notification): Promise<{ content: string; isError: boolean }> {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify({ text }),
    redirect: 'manual' as const,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  }
  try {
    const { ok, status } = await fetch(url, request)
    return ok
      ? { content: 'The message was sent.', isError: false }
      : { content: `The message was refused with status ${status}.`, isError: true }
  } catch {
    signal.throwIfAborted()
    return {
      content: 'The receiver did not answer, so nobody knows whether the message arrived. Do not send it again without asking.',
      isError: true,
    }
  }
}
