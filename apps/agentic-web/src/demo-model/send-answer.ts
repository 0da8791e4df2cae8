// Sends an answer in the form of OpenAI's streamed chat completions.
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Piece } from './answer.ts'
import type { Conversation } from './conversation.ts'

export async function sendAnswer(res: ServerResponse, model: string, conversation: Conversation, pieces: readonly Piece[]): Promise<void> {
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  const send = (delta: object, rest: object = {}) =>
    res.write(chunk(model, { choices: [{ index: 0, delta, finish_reason: null, ...rest }] }))
  send({ role: 'assistant', content: '' })
  let calls = 0
  let words = 0
  for (const piece of pieces) {
    if ('pauseMs' in piece && piece.pauseMs > 0) await pause(piece.pauseMs, undefined, { signal: gone.signal }).catch(() => {})
    if (gone.signal.aborted) return
    if ('cut' in piece) return void res.write('data: {"id":"demo","cho', () => res.destroy())
    if ('say' in piece) send({ content: piece.say })
    if ('clock' in piece) send({ content: `${Date.now()} ` })
    if ('think' in piece) send({ reasoning_content: piece.think })
    if ('call' in piece) sendCall(send, piece, calls++, conversation)
    words += 'say' in piece ? 1 : 0
  }
  send({}, { finish_reason: calls > 0 ? 'tool_calls' : 'stop' })
  res.write(
    chunk(model, {
      choices: [],
      usage: { prompt_tokens: conversation.length, completion_tokens: words, total_tokens: conversation.length + words },
    }),
  )
  res.end('data: [DONE]\n\n')
}

function sendCall(send: (delta: object) => void, piece: { call: string; args: string }, index: number, { length }: Conversation): void {
  const id = `call_${length}_${index}`
  send({ tool_calls: [{ index, id, type: 'function', function: { name: piece.call, arguments: '' } }] })
  // In two parts, as real servers send them.
  const middle = Math.ceil(piece.args.length / 2)
  for (const part of [piece.args.slice(0, middle), piece.args.slice(middle)])
    send({ tool_calls: [{ index, function: { arguments: part } }] })
}

function chunk(model: string, rest: object): string {
  return `data: ${JSON.stringify({ id: 'demo', object: 'chat.completion.chunk', created: 0, model, ...rest })}\n\n`
}
