// The demo model: a script behind a server that speaks OpenAI's chat completions. It is no AI. It is there so that the app can be tried and
// tested without a key, through the same code that calls a real model.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { DEMO_MODEL } from '../db/settings.ts'
import type { Refusal } from './answer.ts'
import { type Conversation, chatRequest, conversationOf } from './conversation.ts'
import { answerOf } from './script.ts'
import { sendAnswer } from './send-answer.ts'

const BODY_BYTES_MAX = 32 * 1024 * 1024
const REQUESTS_KEPT = 1000

/** For tests: `GET /__requests` lists the last ones. */
interface SeenRequest {
  asked: string
  calls: number
  /** The caller closed the connection before the answer was complete. */
  aborted: boolean
}

export function demoModelServer(): Server {
  const requests: SeenRequest[] = []
  const attempts = (conversation: Conversation) =>
    requests.filter(({ asked, calls }) => asked === conversation.asked && calls === conversation.calls).length
  return createServer((req, res) => {
    answer(req, res, requests, attempts).catch((error) =>
      refuse(res, { status: 400, body: JSON.stringify({ error: { message: String(error) } }) }),
    )
  })
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  requests: SeenRequest[],
  attempts: (conversation: Conversation) => number,
): Promise<void> {
  if (req.method === 'GET' && req.url === '/v1/models')
    return json(res, { object: 'list', data: [{ id: DEMO_MODEL, object: 'model', owned_by: 'scripted, not an AI' }] })
  if (req.method === 'GET' && req.url === '/__requests') return json(res, requests)
  if (req.method !== 'POST' || req.url !== '/v1/chat/completions')
    return refuse(res, { status: 404, body: '{"error":{"message":"not found"}}' })
  const request = chatRequest.parse(JSON.parse(await bodyOf(req)))
  const conversation = conversationOf(request)
  const seen = { asked: conversation.asked, calls: conversation.calls, aborted: false }
  requests.push(seen)
  if (requests.length > REQUESTS_KEPT) requests.shift()
  res.once('close', () => (seen.aborted = !res.writableFinished))
  const answer = answerOf(conversation, attempts)
  if ('refusal' in answer) refuse(res, answer.refusal)
  else await sendAnswer(res, request.model, conversation, answer.pieces)
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of req as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > BODY_BYTES_MAX) throw new Error(`the request is larger than ${BODY_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function refuse(res: ServerResponse, { status, headers = {}, body }: Refusal): void {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
}

function json(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}
